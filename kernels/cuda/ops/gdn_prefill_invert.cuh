// T = (I + A)⁻¹ for a strictly lower triangular A of [64 × 64] float32 in shared memory, in place, by a
// block of 128 threads.
//
//   1. The four diagonal 16 × 16 blocks by forward substitution, one a warp, a column a lane:
//      T_i = e_i − Σ_{j<i} A_ij T_j with j ascending.
//   2. For pairs of such blocks, then for the pair of 32 × 32 blocks: the inverse of [[I + A0, 0], [A10, I +
//   A1]] is
//      [[T0, 0], [−T1 A10 T0, T1]].
//
// Every element is one float32 sum over ascending indices, whoever computes it. Blocks of 16 above the
// diagonal are nobody's input: A10 T0 is kept there until T1 has been multiplied by it.
#pragma once

#include "common.cuh"

namespace branchmark::cuda {

struct GdnInvertConfig {
  static constexpr int kThreads = 128;
  // Row stride in floats: 8 more than a multiple of 32, so that the pairs of a C or A fragment of a product
  // (mma.cuh) meet every bank once.
  static constexpr int kTriangleStride = BMK_CHUNK_TOKENS + 8;
};
static_assert(BMK_CHUNK_TOKENS == 4 * 16 && GdnInvertConfig::kThreads == 4 * kWarpThreads,
              "a warp a diagonal block");

namespace gdn_invert {

using Config = GdnInvertConfig;

// (I + A)⁻¹ of the 16 × 16 diagonal block at `first`, in place, by one warp: lane l < 16 owns column l.
__device__ __forceinline__ void invert_diagonal_block(float* triangle, int first, int lane) {
  float* const block = triangle + first * Config::kTriangleStride + first;
  float t[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) t[i] = i == lane ? 1.0f : 0.0f;
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int i = j + 1; i < 16; ++i) t[i] = fmaf(-block[i * Config::kTriangleStride + j], t[j], t[i]);
  __syncwarp();
  if (lane < 16) {
#pragma unroll
    for (int i = 0; i < 16; ++i) block[i * Config::kTriangleStride + lane] = t[i];
  }
}

// sums[r][0 .. 3] += left[r][k] · right[k][0 .. 3] for r < kRows and k in [first, last), multiples of 4, k
// ascending.
template <int kRows>
__device__ __forceinline__ void multiply_add(float (&sums)[kRows][4], const float* left, int left_stride,
                                             const float* right, int right_stride, int first, int last) {
  for (int k = first; k < last; k += 4) {
    float4 a[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) a[r] = *reinterpret_cast<const float4*>(left + r * left_stride + k);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 b = *reinterpret_cast<const float4*>(right + (k + i) * right_stride);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float factor = i == 0 ? a[r].x : i == 1 ? a[r].y : i == 2 ? a[r].z : a[r].w;
        sums[r][0] = fmaf(factor, b.x, sums[r][0]);
        sums[r][1] = fmaf(factor, b.y, sums[r][1]);
        sums[r][2] = fmaf(factor, b.z, sums[r][2]);
        sums[r][3] = fmaf(factor, b.w, sums[r][3]);
      }
    }
  }
}

// A10, at rows first + size and columns first, becomes −T1 A10 T0, by `kSize · kSize / (4 · kRows)` threads
// of which this is number `thread`. T0 and T1 are lower triangular; tiles of 16 that hold only zeros are
// passed over. Two barriers of the block within.
template <int kSize, int kRows>
__device__ __forceinline__ void merge_blocks(float* triangle, int first, int thread) {
  constexpr int kStride = Config::kTriangleStride;
  constexpr int kColumnGroups = kSize / 4;
  const int row = thread / kColumnGroups * kRows;
  const int column = thread % kColumnGroups * 4;
  const float* const t0 = triangle + first * kStride + first;
  float* const a10 = triangle + (first + kSize) * kStride + first;
  const float* const t1 = a10 + kSize;
  float* const product = triangle + first * kStride + first + kSize;
  float sums[kRows][4] = {};
  multiply_add<kRows>(sums, a10 + row * kStride, kStride, t0 + column, kStride, column / 16 * 16, kSize);
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    *reinterpret_cast<float4*>(product + (row + r) * kStride + column) = {sums[r][0], sums[r][1], sums[r][2],
                                                                          sums[r][3]};
  __syncthreads();
  float merged[kRows][4] = {};
  multiply_add<kRows>(merged, t1 + row * kStride, kStride, product + column, kStride, 0, row / 16 * 16 + 16);
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    *reinterpret_cast<float4*>(a10 + (row + r) * kStride + column) = {-merged[r][0], -merged[r][1],
                                                                      -merged[r][2], -merged[r][3]};
  __syncthreads();
}

// The whole of A to T. A barrier of the block stands before the first read of A by another warp and after the
// last write of T.
__device__ __forceinline__ void invert(float* triangle) {
  constexpr int kHalf = Config::kThreads / 2;
  const int thread = static_cast<int>(threadIdx.x);
  const int pair = thread / kHalf;
  invert_diagonal_block(triangle, thread / kWarpThreads * 16, thread % kWarpThreads);
  __syncthreads();
  merge_blocks<16, 1>(triangle, pair * 32, thread % kHalf);
  merge_blocks<32, 2>(triangle, 0, thread);
}

}  // namespace gdn_invert
}  // namespace branchmark::cuda
