// What full attention does to its projection before the keys are compared: norm and rotary of queries and
// keys, and the split of keys and values from the packed rows to their sequences.
//
//   n = round((x · rsqrt(mean(x²) + eps)) · (1 + w))        per head of 256
//   y[i]      = round(round(n[i] · cos_i) − round(n[i + 32] · sin_i))
//   y[i + 32] = round(round(n[i + 32] · cos_i) + round(n[i] · sin_i))        for i in [0, 32)
//   y[i] = n[i]        for i in [64, 256)
//
// projection: [rows, 512 · query heads + 512 · kv heads]: per query head 256 of query and 256 of gate, then
// all key heads, then all value heads. query: [rows, 256 · query heads]; keys and values of a sequence:
// [its rows, 256 · kv heads]. All of the activation type, bf16 or f32; float32 inside. cosines and sines:
// [positions, 32], of which frequency i reads the row of its temporal, height or width position.
//
// Rows are independent: a warp takes one head of one row, eight elements a lane; a lane adds its eight
// squares in order and the lanes meet in one fixed tree. Bound by memory.
#include "ops.hpp"
#include "sequences.cuh"

namespace branchmark::cuda {
namespace {

struct AttentionPrepareConfig {
  static constexpr int kWarps = 8;
  static constexpr int kThreads = kWarps * kWarpThreads;
  // Lanes that hold one half of the rotary pairs; the other half lies that many lanes on.
  static constexpr int kHalfLanes = BMK_ROTARY_FREQUENCIES / kVector;
};
static_assert(BMK_ATTENTION_HEAD_DIM == kWarpThreads * kVector, "a warp holds one head");
static_assert(BMK_ROTARY_DIM == 2 * BMK_ROTARY_FREQUENCIES, "dimension i turns with i + 32");
static_assert(AttentionPrepareConfig::kHalfLanes * kVector == BMK_ROTARY_FREQUENCIES,
              "a lane's eight elements belong to one half");

__device__ __forceinline__ Float8 load_stored8(const bmk_matrix& vector, std::int64_t i) {
  return vector.dtype == BMK_BF16 ? load8(static_cast<const __nv_bfloat16*>(vector.data) + i)
                                  : load8(static_cast<const float*>(vector.data) + i);
}

// Which of the three position rows turns frequency i: 0 temporal, 1 height, 2 width.
__device__ __forceinline__ int position_axis(const bmk_attention_prepare_args& args, int i) {
  if (i % 3 == 1 && i < 3 * args.section_height) return 1;
  if (i % 3 == 2 && i < 3 * args.section_width) return 2;
  return 0;
}

template <typename T>
__device__ __forceinline__ void normalise(Float8& x, const Float8& weight, float eps) {
  float sum = 0.0f;
#pragma unroll
  for (int e = 0; e < kVector; ++e) sum = fmaf(x.element[e], x.element[e], sum);
  const float scale = reciprocal_sqrt(warp_sum(sum) / BMK_ATTENTION_HEAD_DIM + eps);
#pragma unroll
  for (int e = 0; e < kVector; ++e)
    x.element[e] = round_to<T>(x.element[e] * scale * (1.0f + weight.element[e]));
}

// The cosines and sines that turn a lane's eight elements.
struct Turn {
  Float8 cosine;
  Float8 sine;
};

// Of the lanes that hold rotary dimensions; others get zeros. Asked for before the norm, to arrive during it.
template <typename T>
__device__ __forceinline__ Turn load_turn(const bmk_attention_prepare_args& args, std::int64_t row,
                                          int lane) {
  constexpr int kHalfLanes = AttentionPrepareConfig::kHalfLanes;
  Turn turn{};
  if (lane >= 2 * kHalfLanes) return turn;
  const int first = lane % kHalfLanes * kVector;
  const T* const cosines = static_cast<const T*>(args.cosines.data);
  const T* const sines = static_cast<const T*>(args.sines.data);
  std::int64_t position[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) position[axis] = args.positions[axis * args.sequences.num_rows + row];
  if (position[0] == position[1] && position[0] == position[2]) {  // text
    turn.cosine = load8(cosines + position[0] * args.cosines.row_stride + first);
    turn.sine = load8(sines + position[0] * args.sines.row_stride + first);
    return turn;
  }
#pragma unroll
  for (int e = 0; e < kVector; ++e) {
    const int axis = position_axis(args, first + e);
    const std::int64_t at = axis == 0 ? position[0] : axis == 1 ? position[1] : position[2];
    turn.cosine.element[e] = to_float(cosines[at * args.cosines.row_stride + first + e]);
    turn.sine.element[e] = to_float(sines[at * args.sines.row_stride + first + e]);
  }
  return turn;
}

// All lanes take part in the exchange; those past the rotary dimensions keep what they have.
template <typename T>
__device__ __forceinline__ void rotate(Float8& x, const Turn& turn, int lane) {
  constexpr int kHalfLanes = AttentionPrepareConfig::kHalfLanes;
  const bool second_half = (lane & kHalfLanes) != 0;
#pragma unroll
  for (int e = 0; e < kVector; ++e) {
    const float partner = __shfl_xor_sync(kFullWarp, x.element[e], kHalfLanes);
    if (lane >= 2 * kHalfLanes) continue;
    const float turned = round_to<T>(__fmul_rn(x.element[e], turn.cosine.element[e]));
    const float crossed = round_to<T>(__fmul_rn(partner, turn.sine.element[e]));
    x.element[e] = second_half ? __fadd_rn(turned, crossed) : __fsub_rn(turned, crossed);
  }
}

// One warp for each head of a row: first the query heads, then the key heads, then the value heads.
template <typename T>
__global__ void __launch_bounds__(AttentionPrepareConfig::kThreads)
    attention_prepare_kernel(const __grid_constant__ bmk_attention_prepare_args args,
                             unsigned blocks_per_row) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const std::int64_t row = blockIdx.x / blocks_per_row;
  const std::int64_t head =
      blockIdx.x % blocks_per_row * AttentionPrepareConfig::kWarps + threadIdx.x / kWarpThreads;
  if (head >= args.query_heads + 2 * args.kv_heads) return;

  constexpr std::int64_t kHeadDim = BMK_ATTENTION_HEAD_DIM;
  const T* from =
      static_cast<const T*>(args.projection.data) + row * args.projection.row_stride + lane * kVector;
  if (head < args.query_heads) {
    Float8 x = load8(from + 2 * kHeadDim * head);
    const Turn turn = load_turn<T>(args, row, lane);
    normalise<T>(x, load_stored8(args.query_norm, lane * kVector), args.eps);
    rotate<T>(x, turn, lane);
    store8(static_cast<T*>(args.query.data) + row * args.query.row_stride + kHeadDim * head + lane * kVector,
           x);
    return;
  }

  from += 2 * kHeadDim * args.query_heads + kHeadDim * (head - args.query_heads);
  const bool is_key = head < args.query_heads + args.kv_heads;
  const std::int64_t kv_head = head - args.query_heads - (is_key ? 0 : args.kv_heads);
  const std::int64_t sequence = args.sequences.sequence_of_row[row];
  const std::int64_t own_row = row - args.sequences.row_offsets[sequence];
  const std::int64_t to = (own_row * args.kv_heads + kv_head) * kHeadDim + lane * kVector;
  if (is_key) {
    Float8 x = load8(from);
    const Turn turn = load_turn<T>(args, row, lane);
    normalise<T>(x, load_stored8(args.key_norm, lane * kVector), args.eps);
    rotate<T>(x, turn, lane);
    store8(static_cast<T*>(args.key_out[sequence]) + to, x);
  } else {
    store_raw8(static_cast<T*>(args.value_out[sequence]) + to, load_raw8(from));
  }
}

void require_attention_prepare(const bmk_attention_prepare_args& args) {
  constexpr std::int64_t kHeadDim = BMK_ATTENTION_HEAD_DIM;
  const bmk_dtype activation = args.projection.dtype;
  const std::int64_t rows = args.projection.rows;
  require_numerics(args.numerics, activation, "attention_prepare");
  require_at_least(args.query_heads, 1, "attention_prepare: query_heads");
  require_at_least(args.kv_heads, 1, "attention_prepare: kv_heads");
  require_matrix(args.projection, "attention_prepare: projection", rows,
                 2 * kHeadDim * (args.query_heads + args.kv_heads), activation);
  require_matrix(args.query, "attention_prepare: query", rows, kHeadDim * args.query_heads, activation);
  require_weight(args.query_norm, "attention_prepare: query_norm", 1, kHeadDim);
  require_weight(args.key_norm, "attention_prepare: key_norm", 1, kHeadDim);
  require_matrix(args.cosines, "attention_prepare: cosines", args.cosines.rows, BMK_ROTARY_FREQUENCIES,
                 activation);
  require_matrix(args.sines, "attention_prepare: sines", args.cosines.rows, BMK_ROTARY_FREQUENCIES,
                 activation);
  require_sequences(args.sequences, rows);
  if (rows == 0) return;
  require_pointer(args.positions, "attention_prepare: positions");
  require_pointer(args.key_out, "attention_prepare: key_out");
  require_pointer(args.value_out, "attention_prepare: value_out");
}

}  // namespace

bmk_status attention_prepare(bmk_stream* stream, const bmk_attention_prepare_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "attention_prepare");
    require_attention_prepare(*args);
    if (args->sequences.num_rows == 0) return;
    const std::int64_t blocks_per_row =
        ceil_div(args->query_heads + 2 * args->kv_heads, AttentionPrepareConfig::kWarps);
    const unsigned blocks = grid_of(args->sequences.num_rows * blocks_per_row, "attention_prepare");
    for_dtype(args->projection.dtype, [&](auto* activation) {
      attention_prepare_kernel<pointee<decltype(activation)>>
          <<<blocks, AttentionPrepareConfig::kThreads, 0, queue>>>(*args,
                                                                   static_cast<unsigned>(blocks_per_row));
    });
    check_launch("attention_prepare");
  });
}

}  // namespace branchmark::cuda
