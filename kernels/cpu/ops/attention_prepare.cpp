// What full attention does to its projection before the keys are compared: norm and rotary of queries and
// keys, and the split of keys and values from the packed rows to their sequences.
//
//   n = round((x · rsqrt(mean(x²) + eps)) · (1 + w))        per head of 256
//   y[i]      = round(round(n[i] · cos_i) − round(n[i + 32] · sin_i))
//   y[i + 32] = round(round(n[i + 32] · cos_i) + round(n[i] · sin_i))        for i in [0, 32)
//   y[i] = n[i]        for i in [64, 256)
//
// projection: [rows, 512 · query heads + 512 · kv heads]: per query head 256 of query and 256 of gate, then
// all key heads, then all value heads. query: [rows, 256 · query heads]; keys and values of a sequence: [its
// rows, 256 · kv heads]. All of the activation type, bf16 or f32, to which round is; arithmetic is float32.
// cosines and sines: [positions, 32], of which frequency i reads the row of its temporal, height or width
// position.
//
// Rows are independent: a row reads itself, its positions and weights. The one sum is over the 256 elements
// of a head, by sum16. Bound by memory.
#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {
namespace {

constexpr int64_t kHeadDim = BMK_ATTENTION_HEAD_DIM;
constexpr int64_t kFrequencies = BMK_ROTARY_FREQUENCIES;

// The angles of one row.
struct Rotation {
  float cosines[kFrequencies];
  float sines[kFrequencies];
};

// Which of the three position rows turns frequency i: 0 temporal, 1 height, 2 width.
int64_t position_axis(const bmk_attention_prepare_args& args, int64_t i) {
  if (i % 3 == 1 && i < 3 * args.section_height) return 1;
  if (i % 3 == 2 && i < 3 * args.section_width) return 2;
  return 0;
}

Rotation rotation_of_row(const bmk_attention_prepare_args& args, int64_t row) {
  Rotation rotation;
  for (int64_t i = 0; i < kFrequencies; ++i) {
    const int64_t position = args.positions[position_axis(args, i) * args.sequences.num_rows + row];
    rotation.cosines[i] = load(args.cosines.data, position * args.cosines.row_stride + i, args.cosines.dtype);
    rotation.sines[i] = load(args.sines.data, position * args.sines.row_stride + i, args.sines.dtype);
  }
  return rotation;
}

// One head: 256 elements of the projection from `from_index`, normalised and turned, to `to` from `to_index`.
void prepare_head(const bmk_attention_prepare_args& args, const bmk_matrix& norm, const Rotation& rotation,
                  int64_t from_index, void* to, int64_t to_index) {
  const bmk_dtype type = args.projection.dtype;
  float x[kHeadDim];
  float weight[kHeadDim];
  load_row(x, args.projection.data, from_index, kHeadDim, type);
  load_row(weight, norm.data, 0, kHeadDim, norm.dtype);
  const float mean = sum16(kHeadDim, [&](int64_t i) { return x[i] * x[i]; }) / static_cast<float>(kHeadDim);
  const float scale = rsqrt_f32(mean + args.eps);
  for (int64_t i = 0; i < kHeadDim; ++i) x[i] = round_to((x[i] * scale) * (1.0f + weight[i]), type);
  for (int64_t i = 0; i < kFrequencies; ++i) {
    const float cosine = rotation.cosines[i];
    const float sine = rotation.sines[i];
    const float first = x[i];
    const float second = x[i + kFrequencies];
    x[i] = round_to(first * cosine, type) - round_to(second * sine, type);
    x[i + kFrequencies] = round_to(second * cosine, type) + round_to(first * sine, type);
  }
  store_row(to, to_index, kHeadDim, type, x);
}

void prepare_row(const bmk_attention_prepare_args& args, int64_t row) {
  const bmk_dtype type = args.projection.dtype;
  const int64_t sequence = args.sequences.sequence_of_row[row];
  const int64_t own_row = row - args.sequences.row_offsets[sequence];
  const int64_t first = row * args.projection.row_stride;
  const int64_t first_key = first + 2 * kHeadDim * args.query_heads;
  const int64_t first_value = first_key + kHeadDim * args.kv_heads;
  const Rotation rotation = rotation_of_row(args, row);
  for (int64_t h = 0; h < args.query_heads; ++h) {
    prepare_head(args, args.query_norm, rotation, first + 2 * kHeadDim * h, args.query.data,
                 row * args.query.row_stride + kHeadDim * h);
  }
  for (int64_t h = 0; h < args.kv_heads; ++h) {
    const int64_t to = (own_row * args.kv_heads + h) * kHeadDim;
    prepare_head(args, args.key_norm, rotation, first_key + kHeadDim * h, args.key_out[sequence], to);
    float value[kHeadDim];
    load_row(value, args.projection.data, first_value + kHeadDim * h, kHeadDim, type);
    store_row(args.value_out[sequence], to, kHeadDim, type, value);
  }
}

}  // namespace

void attention_prepare(Workers& workers, const bmk_attention_prepare_args& args) {
  parallel_for(workers, args.sequences.num_rows, [&](int64_t row) { prepare_row(args, row); });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
