// The rms norm of one row by one block, the part that rms_norm and add_rms_norm share so that a row gets the
// same bits from both:
//
//   out = (x · (1 / sqrt(mean(x²) + eps))) · (1 + weight)             float32 inside, one rounding
//
// Thread t holds the vectors t, t + threads, ... of eight elements, adds their squares in that order, and a
// fixed tree adds the threads. Threads are chosen by the row's length alone, so that the order is too.
#pragma once

#include "common.cuh"

namespace branchmark::cuda {

struct RmsConfig {
  static constexpr int kMaxThreads = 1024;
  static constexpr int kMaxVectors = 2;  // of a thread, kept in registers between sum and product
  static constexpr std::int64_t kMaxColumns = std::int64_t{kMaxThreads} * kMaxVectors * kVector;
  static_assert(kMaxThreads / kWarpThreads <= kWarpThreads, "one warp adds the sums of all warps");
};

// Column at which the block's thread begins its vector `index`.
__device__ __forceinline__ std::int64_t rms_column(int index) {
  return (static_cast<std::int64_t>(index) * blockDim.x + threadIdx.x) * kVector;
}

template <typename T, typename W, int kVectors>
__device__ __forceinline__ void rms_norm_row(const Float8 (&x)[kVectors], const W* weight, float eps,
                                             std::int64_t columns, T* out) {
  __shared__ float partial[kWarpThreads];
  Raw8<W> scale[kVectors];
  float sum = 0.0f;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    // Asked for before the barrier, to arrive during it.
    if (rms_column(v) < columns)
      scale[v] = load_raw8(weight + rms_column(v), valid_at(rms_column(v), columns));
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum = fmaf(x[v].element[i], x[v].element[i], sum);
  }
  const float mean = block_sum(sum, partial) / static_cast<float>(columns);
  const float inverse = reciprocal_sqrt(mean + eps);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (rms_column(v) >= columns) continue;
    Float8 y;
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      y.element[i] = (x[v].element[i] * inverse) * (1.0f + to_float(scale[v].element[i]));
    store8(out + rms_column(v), y, valid_at(rms_column(v), columns));
  }
}

// Calls f(threads, constant) with the block size for a row and the vectors that each thread holds, as an
// integral constant.
template <typename F>
void for_rms_config(std::int64_t columns, const char* op, F&& f) {
  const std::int64_t vectors = ceil_div(columns, kVector);
  if (vectors <= RmsConfig::kMaxThreads)
    f(static_cast<unsigned>(round_up(vectors, kWarpThreads)), std::integral_constant<int, 1>{});
  else if (columns <= RmsConfig::kMaxColumns)
    f(static_cast<unsigned>(RmsConfig::kMaxThreads), std::integral_constant<int, RmsConfig::kMaxVectors>{});
  else
    fail(BMK_UNSUPPORTED, std::string(op) + ": rows of " + std::to_string(columns) +
                              " elements, the limit is " + std::to_string(RmsConfig::kMaxColumns));
}

}  // namespace branchmark::cuda
