// Gated attention of float32 activations, the ground truth (formula: gated_attention.cu): nothing is
// rounded and exp is the accurate one.
//
// A warp takes one query head of one row, eight dims a lane, and walks the keys in groups of four on the
// grid from position 0. Within a group the four scores are computed side by side, each as the sum of a
// lane's eight products in order and of the lanes in one fixed tree; probabilities and values are added key
// by key. Keys past the row's position are not read: they enter as zeros and are masked by select. So a
// row's bits follow from its position and its sequence alone.
//
// Bound by the reads of keys and values, which are not shared between rows: made to be read, not to be
// fast.
#pragma once

#include "sequences.cuh"

namespace branchmark::cuda {

struct GatedAttentionF32Config {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarpThreads;
  static constexpr int kKeys = 4;
  static constexpr float kScale = 1.0f / 16.0f;
};
static_assert(BMK_ATTENTION_HEAD_DIM == kWarpThreads * kVector, "a warp holds one head");
static_assert(BMK_CHUNK_TOKENS % GatedAttentionF32Config::kKeys == 0, "a group of keys lies in one segment");

__global__ void __launch_bounds__(GatedAttentionF32Config::kThreads)
    gated_attention_f32_kernel(const __grid_constant__ bmk_gated_attention_args args,
                               unsigned blocks_per_row) {
  using Config = GatedAttentionF32Config;
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const std::int64_t row = blockIdx.x / blocks_per_row;
  const std::int64_t head = blockIdx.x % blocks_per_row * Config::kWarps + threadIdx.x / kWarpThreads;
  if (head >= args.query_heads) return;
  const std::int64_t sequence = args.sequences.sequence_of_row[row];
  const std::int64_t position =
      args.sequences.first_position[sequence] + row - args.sequences.row_offsets[sequence];
  const std::int64_t column = head * BMK_ATTENTION_HEAD_DIM + lane * kVector;
  const std::int64_t kv_stride = args.kv_heads * BMK_ATTENTION_HEAD_DIM;
  const std::int64_t kv_column =
      head * args.kv_heads / args.query_heads * BMK_ATTENTION_HEAD_DIM + lane * kVector;
  const Float8 q = load8(static_cast<const float*>(args.query.data) + row * args.query.row_stride + column);

  Float8 o{};
  float maximum = -INFINITY;
  float denominator = 0.0f;
  for (std::int64_t segment = args.segment_offsets[sequence]; segment < args.segment_offsets[sequence + 1];
       ++segment) {
    const float* keys = static_cast<const float*>(args.segment_keys[segment]) + kv_column;
    const float* values = static_cast<const float*>(args.segment_values[segment]) + kv_column;
    const std::int64_t seen = position + 1 - args.segment_first_position[segment];
    const std::int64_t num_keys = seen < args.segment_length[segment] ? seen : args.segment_length[segment];
    for (std::int64_t first = 0; first < num_keys; first += Config::kKeys) {
      float s[Config::kKeys];
      Float8 v[Config::kKeys];
      float highest = maximum;
#pragma unroll
      for (int j = 0; j < Config::kKeys; ++j) {
        const bool present = first + j < num_keys;
        Float8 k{};
        v[j] = Float8{};
        if (present) {
          k = load8(keys + (first + j) * kv_stride);
          v[j] = load8(values + (first + j) * kv_stride);
        }
        float sum = 0.0f;
#pragma unroll
        for (int e = 0; e < kVector; ++e) sum = fmaf(q.element[e], k.element[e], sum);
        sum = warp_sum(sum);
        s[j] = present ? sum * Config::kScale : -INFINITY;
        highest = fmaxf(highest, s[j]);
      }
      const float factor = expf(maximum - highest);
      maximum = highest;
      denominator *= factor;
#pragma unroll
      for (int e = 0; e < kVector; ++e) o.element[e] *= factor;
#pragma unroll
      for (int j = 0; j < Config::kKeys; ++j) {
        const float p = expf(s[j] - highest);
        denominator += p;
#pragma unroll
        for (int e = 0; e < kVector; ++e) o.element[e] = fmaf(p, v[j].element[e], o.element[e]);
      }
    }
  }

  const Float8 gate = load8(static_cast<const float*>(args.gate.data) + row * args.gate.row_stride +
                            head * args.gate_head_stride + lane * kVector);
#pragma unroll
  for (int e = 0; e < kVector; ++e)
    o.element[e] = o.element[e] / denominator * sigmoid<float>(gate.element[e]);
  store8(static_cast<float*>(args.out.data) + row * args.out.row_stride + column, o);
}

}  // namespace branchmark::cuda
