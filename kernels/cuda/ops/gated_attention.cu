// Causal softmax attention over segments of keys, then the output gate.
//
//   s_j = (q · k_j) / 16        for the keys of positions j <= the row's own
//   o = Σ_j [exp(s_j − m)] v_j / Σ_j exp(s_j − m)
//   with m the maximum so far, keys taken in order of position
//   out = round(round(o) · round(sigmoid(gate)))
// where [x] is x rounded to bf16 with bf16 activations and x itself with float32; the denominator adds
// unrounded terms. Whenever m grows, both sums are multiplied by exp(old m − new m), row by row.
//
// query, out: [rows, 256 · query heads]; keys and values of a segment: [length, 256 · kv heads]; all of the
// activation type. Query head h reads kv head ⌊h · kv heads / query heads⌋.
//
// Rows are independent: keys are taken in tiles of fixed size on one grid from the prompt's start, which no
// segment's seam cuts, whatever rows are computed beside.
#include "../wgmma_device.hpp"
#include "gated_attention_f32.cuh"
#include "gated_attention_mma.cuh"
#include "gated_attention_wgmma.cuh"
#include "ops.hpp"
#include "shared_memory.cuh"

namespace branchmark::cuda {
namespace {

void require_gated_attention(const bmk_gated_attention_args& args) {
  constexpr std::int64_t kHeadDim = BMK_ATTENTION_HEAD_DIM;
  const bmk_dtype activation = args.query.dtype;
  const std::int64_t rows = args.query.rows;
  require_numerics(args.numerics, activation, "gated_attention");
  require_at_least(args.kv_heads, 1, "gated_attention: kv_heads");
  require_at_least(args.query_heads, args.kv_heads, "gated_attention: query_heads");
  require_equal(args.query_heads % args.kv_heads, 0, "gated_attention: query_heads modulo kv_heads");
  require_at_least(args.gate_head_stride, kHeadDim, "gated_attention: gate_head_stride");
  require_equal(args.gate_head_stride % kStrideMultiple, 0, "gated_attention: gate_head_stride modulo 8");
  require_matrix(args.query, "gated_attention: query", rows, kHeadDim * args.query_heads, activation);
  require_matrix(args.gate, "gated_attention: gate", rows,
                 args.gate_head_stride * (args.query_heads - 1) + kHeadDim, activation);
  require_matrix(args.out, "gated_attention: out", rows, kHeadDim * args.query_heads, activation);
  require_sequences(args.sequences, rows);
  if (rows == 0) return;
  require_pointer(args.segment_offsets, "gated_attention: segment_offsets");
  require_pointer(args.segment_keys, "gated_attention: segment_keys");
  require_pointer(args.segment_values, "gated_attention: segment_values");
  require_pointer(args.segment_first_position, "gated_attention: segment_first_position");
  require_pointer(args.segment_length, "gated_attention: segment_length");
}

void launch_wgmma(const bmk_stream* stream, cudaStream_t queue, const bmk_gated_attention_args& args) {
  using Config = GatedAttentionWgmmaConfig;
  allow_shared_bytes(stream, gated_attention_wgmma_kernel, Config::kSharedBytes, "gated_attention");
  const std::int64_t blocks_per_head =
      ceil_div(BMK_CHUNK_TOKENS * (args.query_heads / args.kv_heads), Config::kQueryRows);
  const unsigned blocks =
      grid_of(args.sequences.num_chunks * args.kv_heads * blocks_per_head, "gated_attention");
  gated_attention_wgmma_kernel<<<blocks, Config::kThreads, Config::kSharedBytes, queue>>>(args);
}

void launch_mma(const bmk_stream* stream, cudaStream_t queue, const bmk_gated_attention_args& args) {
  using Config = GatedAttentionMmaConfig;
  allow_shared_bytes(stream, gated_attention_mma_kernel, Config::kSharedBytes, "gated_attention");
  // A chunk's 64 tokens times the heads of a group make as many tiles as the group has heads.
  const unsigned blocks = grid_of(args.sequences.num_chunks * args.query_heads, "gated_attention");
  gated_attention_mma_kernel<<<blocks, Config::kThreads, Config::kSharedBytes, queue>>>(args);
}

void launch_f32(cudaStream_t queue, const bmk_gated_attention_args& args) {
  using Config = GatedAttentionF32Config;
  const std::int64_t blocks_per_row = ceil_div(args.query_heads, Config::kWarps);
  const unsigned blocks = grid_of(args.query.rows * blocks_per_row, "gated_attention");
  gated_attention_f32_kernel<<<blocks, Config::kThreads, 0, queue>>>(args,
                                                                     static_cast<unsigned>(blocks_per_row));
}

}  // namespace

bmk_status gated_attention_workspace(bmk_device* device, const bmk_gated_attention_args* args,
                                     std::int64_t* bytes) {
  return guarded([&] {
    activate(device);
    require_args(args, "gated_attention_workspace");
    require_pointer(bytes, "gated_attention_workspace: bytes");
    *bytes = 0;
  });
}

bmk_status gated_attention(bmk_stream* stream, const bmk_gated_attention_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "gated_attention");
    require_gated_attention(*args);
    if (args->query.rows == 0) return;
    if (args->query.dtype != BMK_BF16)
      launch_f32(queue, *args);
    else if (has_wgmma(*stream->device))
      launch_wgmma(stream, queue, *args);
    else
      launch_mma(stream, queue, *args);
    check_launch("gated_attention");
  });
}

}  // namespace branchmark::cuda
