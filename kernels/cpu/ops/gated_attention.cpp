// Causal softmax attention over a sequence's keys, own and ancestors', and the output gate.
//
//   s_j  = (q · k_j) / 16                 for the keys j at positions 0 .. p, p the row's own position
//   per tile of 64 keys, positions ascending from 0:   m' = max(m, max_j s_j),   f = exp(m − m'),
//   p_j  = exp(s_j − m'),   l ← l f + Σ_j p_j,   y ← y f + Σ_j round(p_j) v_j
//   out  = round(round(y / l) · round(sigmoid(gate)))
//
// query, out: [rows, 256 · query heads]; keys and values of a segment: [its length, 256 · kv heads]; gate:
// see bmk_gated_attention_args. All of the activation type, to which round is; p_j is rounded, unless
// numerics is REFERENCE, for the product with V only, and the denominator l adds the float32 p_j. Arithmetic
// is float32. Query head h reads kv head ⌊h · kv heads / query heads⌋.
//
// Order: q · k adds its 256 products in ascending order; Σ p_j is sum16; y adds its keys in ascending order.
//
// Rows are independent: tiles lie on one grid counted from the prompt's start, and what a row does with a
// tile (its maximum, its rescaling, its sums) is decided by the row alone. Keys past the row are left out,
// not multiplied by zero, so that a NaN there cannot be seen, and tiles past it are not visited. Since
// segments begin at multiples of 64 a tile lies in one segment, and since a block of 64 query rows lies on
// the same grid all of its tiles are seen whole by each row, except its own, the last.
//
// Bound by arithmetic; a tile is converted once for all the query heads of its kv head.
#include "ops/math.hpp"
#include "ops/multiply_add.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {
namespace {

constexpr int64_t kTile = BMK_CHUNK_TOKENS;
constexpr int64_t kDim = BMK_ATTENTION_HEAD_DIM;
constexpr float kScale = 1.0f / 16.0f;
static_assert(kDim % kColumnMultiple == 0 && kTile % kColumnMultiple == 0, "products have whole vectors");

// A block: up to 64 rows of one sequence, with all query heads that read one kv head. Its rows are stacked
// head by head, kTile apart.
struct Block {
  int64_t sequence;
  int64_t first_row;       // among the packed rows
  int64_t first_position;  // a multiple of kTile
  int64_t rows;
  int64_t kv_head;
  int64_t first_head;  // of the query heads
  int64_t num_heads;
};

// One worker's memory. A row of the block is (head − first_head) · kTile + row.
struct Scratch {
  float* keys_transposed;  // [kDim, kTile]
  float* values;           // [kTile, kDim]
  float* queries;          // [num_heads · kTile, kDim]
  float* outputs;          // [num_heads · kTile, kDim], y
  float* weights;          // [num_heads · kTile, kTile], s, then p
  float* maxima;           // [num_heads · kTile], m
  float* sums;             // [num_heads · kTile], l
};

int64_t heads_in_group(const bmk_gated_attention_args& args) {
  return args.query_heads / args.kv_heads;
}

int64_t scratch_floats(int64_t num_heads) {
  return 2 * kTile * kDim + num_heads * kTile * (2 * kDim + kTile + 2);
}

Scratch scratch_of_worker(const bmk_gated_attention_args& args, int64_t worker) {
  const int64_t rows = heads_in_group(args) * kTile;
  Scratch s;
  s.keys_transposed = static_cast<float*>(args.workspace) + worker * scratch_floats(heads_in_group(args));
  s.values = s.keys_transposed + kDim * kTile;
  s.queries = s.values + kTile * kDim;
  s.outputs = s.queries + rows * kDim;
  s.weights = s.outputs + rows * kDim;
  s.maxima = s.weights + rows * kTile;
  s.sums = s.maxima + rows;
  return s;
}

// Chunks of 64 rows are numbered through all sequences.
Block find_block(const bmk_gated_attention_args& args, int64_t chunk, int64_t kv_head) {
  const bmk_sequences& sequences = args.sequences;
  Block block;
  block.sequence = 0;
  while (sequences.chunk_offsets[block.sequence + 1] <= chunk) ++block.sequence;
  const int64_t own_row = (chunk - sequences.chunk_offsets[block.sequence]) * kTile;
  block.first_row = sequences.row_offsets[block.sequence] + own_row;
  block.first_position = sequences.first_position[block.sequence] + own_row;
  const int64_t left = sequences.row_offsets[block.sequence + 1] - block.first_row;
  block.rows = left < kTile ? left : kTile;
  block.kv_head = kv_head;
  block.num_heads = heads_in_group(args);
  block.first_head = kv_head * block.num_heads;
  return block;
}

void load_queries(const bmk_gated_attention_args& args, const Block& block, const Scratch& s) {
  for (int64_t h = 0; h < block.num_heads; ++h) {
    for (int64_t i = 0; i < block.rows; ++i) {
      const int64_t to = h * kTile + i;
      const int64_t from = (block.first_row + i) * args.query.row_stride + (block.first_head + h) * kDim;
      load_row(s.queries + to * kDim, args.query.data, from, kDim, args.query.dtype);
      for (int64_t d = 0; d < kDim; ++d) s.outputs[to * kDim + d] = 0.0f;
      s.maxima[to] = -__builtin_inff();
      s.sums[to] = 0.0f;
    }
  }
}

// Keys and values of `count` positions from `position`, all in `segment`; columns of keys past them are
// zeros, whose scores are not read.
void load_tile(const bmk_gated_attention_args& args, const Block& block, int64_t segment, int64_t position,
               int64_t count, const Scratch& s) {
  for (int64_t j = 0; j < count; ++j) {
    const int64_t row = position + j - args.segment_first_position[segment];
    const int64_t from = (row * args.kv_heads + block.kv_head) * kDim;
    float key[kDim];
    load_row(key, args.segment_keys[segment], from, kDim, args.query.dtype);
    for (int64_t d = 0; d < kDim; ++d) s.keys_transposed[d * kTile + j] = key[d];
    load_row(s.values + j * kDim, args.segment_values[segment], from, kDim, args.query.dtype);
  }
  for (int64_t d = 0; d < kDim; ++d) {
    for (int64_t j = count; j < kTile; ++j) s.keys_transposed[d * kTile + j] = 0.0f;
  }
}

// One row's step of the online softmax, over the first `visible` keys of the tile.
void weigh_row(float* weights, int64_t visible, bool round_weights, float* outputs, float& maximum,
               float& sum) {
  float new_maximum = maximum;
  for (int64_t j = 0; j < visible; ++j) {
    weights[j] *= kScale;
    new_maximum = weights[j] > new_maximum ? weights[j] : new_maximum;
  }
  for (int64_t j = 0; j < visible; ++j) weights[j] = exp_f32(weights[j] - new_maximum);
  const float rescale = exp_f32(maximum - new_maximum);
  maximum = new_maximum;
  sum = sum * rescale + sum16(visible, [weights](int64_t j) { return weights[j]; });
  for (int64_t d = 0; d < kDim; ++d) outputs[d] *= rescale;
  if (round_weights) {
    for (int64_t j = 0; j < visible; ++j) weights[j] = round_bf16(weights[j]);
  }
}

// One head's step over the tile: all of it, or, where it is the block's own, the keys up to each row.
void attend_tile(const Block& block, int64_t head, bool own_tile, bool round_weights, const Scratch& s) {
  const int64_t first = head * kTile;
  float* weights = s.weights + first * kTile;
  float* outputs = s.outputs + first * kDim;
  for (int64_t e = 0; e < block.rows * kTile; ++e) weights[e] = 0.0f;
  multiply_add(block.rows, kTile, kDim, {s.queries + first * kDim, kDim, 1}, s.keys_transposed, kTile,
               weights, kTile);
  for (int64_t i = 0; i < block.rows; ++i) {
    weigh_row(weights + i * kTile, own_tile ? i + 1 : kTile, round_weights, outputs + i * kDim,
              s.maxima[first + i], s.sums[first + i]);
  }
  if (own_tile) {
    multiply_add_lower(block.rows, kDim, {weights, kTile, 1}, s.values, kDim, outputs, kDim);
  } else {
    multiply_add(block.rows, kDim, kTile, {weights, kTile, 1}, s.values, kDim, outputs, kDim);
  }
}

void write_outputs(const bmk_gated_attention_args& args, const Block& block, const Scratch& s) {
  for (int64_t h = 0; h < block.num_heads; ++h) {
    for (int64_t i = 0; i < block.rows; ++i) {
      float* y = s.outputs + (h * kTile + i) * kDim;
      const float sum = s.sums[h * kTile + i];
      const int64_t row = block.first_row + i;
      const int64_t head = block.first_head + h;
      float gate[kDim];
      load_row(gate, args.gate.data, row * args.gate.row_stride + head * args.gate_head_stride, kDim,
               args.gate.dtype);
      for (int64_t d = 0; d < kDim; ++d) {
        y[d] = round_to(y[d] / sum, args.out.dtype) * round_to(sigmoid(gate[d]), args.out.dtype);
      }
      store_row(args.out.data, row * args.out.row_stride + head * kDim, kDim, args.out.dtype, y);
    }
  }
}

void attend_block(const bmk_gated_attention_args& args, const Block& block, const Scratch& s) {
  const bool round_weights = args.numerics != BMK_NUMERICS_REFERENCE;
  load_queries(args, block, s);
  int64_t segment = args.segment_offsets[block.sequence];
  for (int64_t position = 0; position <= block.first_position; position += kTile) {
    while (args.segment_first_position[segment] + args.segment_length[segment] <= position) ++segment;
    const bool own_tile = position == block.first_position;
    load_tile(args, block, segment, position, own_tile ? block.rows : kTile, s);
    for (int64_t h = 0; h < block.num_heads; ++h) attend_tile(block, h, own_tile, round_weights, s);
  }
  write_outputs(args, block, s);
}

}  // namespace

int64_t gated_attention_workspace(const bmk_gated_attention_args& args, int64_t num_threads) {
  if (args.sequences.num_rows == 0) return 0;
  return num_threads * scratch_floats(heads_in_group(args)) * static_cast<int64_t>(sizeof(float));
}

void gated_attention(Workers& workers, const bmk_gated_attention_args& args) {
  parallel_for(workers, args.sequences.num_chunks * args.kv_heads, [&](int64_t task, int64_t worker) {
    const Block block = find_block(args, task / args.kv_heads, task % args.kv_heads);
    attend_block(args, block, scratch_of_worker(args, worker));
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
