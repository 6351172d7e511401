// The gated delta rule in float32 without any rounding in between, numerics GDN_FP32 and REFERENCE: the
// recurrence as it is written, token by token, which is also another algorithm than that of the bf16
// kernels.
//
//   S ← e^g S;  u = beta (v − Sᵀ k);  S ← S + k uᵀ;  o = Sᵀ q
//   with q and k normalised; the activations are bf16 or float32
//
// A block takes 32 value columns of one head of one sequence; four lanes share a column, and each has 32 of
// its 128 elements of S in registers. A sum over keys is four sums a lane, each over ascending keys, then a
// fixed tree over the lane's four and the column's four lanes. Columns do not enter one another's sums,
// tokens come in order, and S is read and written as it is: a row's bits follow from its sequence.
//
// Bound by the latency of a token.
#pragma once

#include "sequences.cuh"

namespace branchmark::cuda {

struct GdnF32Config {
  static constexpr int kDim = BMK_GDN_HEAD_DIM;
  static constexpr int kThreads = 128;
  static constexpr int kWarps = kThreads / kWarpThreads;
  static constexpr int kParts = 4;  // lanes that share a column
  static constexpr int kWarpColumns = kWarpThreads / kParts;
  static constexpr int kColumns = kWarps * kWarpColumns;
  static constexpr int kSlices = kDim / kColumns;  // blocks that share a head
  static constexpr int kKeys = kDim / kParts;
  static constexpr int kTokens = 16;  // that are loaded, and their q and k normalised, at a time
  static constexpr float kNormEps = 1e-6f;
  static constexpr float kQueryScale = 0.088388347648318440550f;  // 128^−½
};
static_assert(BMK_CHUNK_TOKENS % GdnF32Config::kTokens == 0,
              "a state is asked for between two groups of tokens");
static_assert(GdnF32Config::kColumns == kWarpThreads, "a warp loads a row of the block's values, one a lane");
static_assert(GdnF32Config::kDim == 4 * kWarpThreads, "a warp normalises a row, four elements a lane");

namespace gdn_f32 {

using Config = GdnF32Config;

struct Shared {
  float q[Config::kTokens][Config::kDim];
  float k[Config::kTokens][Config::kDim];
  float v[Config::kTokens][Config::kColumns];
  float g[Config::kTokens];
  float beta[Config::kTokens];
};

// x · rsqrt(Σ x² + 1e-6) · scale of 128 elements, by one warp: four a lane in order, then the lanes in a
// fixed tree.
template <typename T>
__device__ __forceinline__ void normalise_row(float* to, const T* from, float scale, int lane) {
  float4 x = {to_float(from[4 * lane]), to_float(from[4 * lane + 1]), to_float(from[4 * lane + 2]),
              to_float(from[4 * lane + 3])};
  const float sum = fmaf(x.w, x.w, fmaf(x.z, x.z, fmaf(x.y, x.y, x.x * x.x)));
  const float inverse = reciprocal_sqrt(warp_sum(sum) + Config::kNormEps);
  x = {x.x * inverse * scale, x.y * inverse * scale, x.z * inverse * scale, x.w * inverse * scale};
  *reinterpret_cast<float4*>(to + 4 * lane) = x;
}

// Key of element `e` of the lane's part: four neighbours a part in turn, so that the parts' 16-byte reads
// of a row meet different banks.
__device__ __forceinline__ int key_of(int e, int part) {
  return e / 4 * 4 * Config::kParts + 4 * part + e % 4;
}

// The lane's part of a row of keys.
__device__ __forceinline__ void load_part(float (&x)[Config::kKeys], const float* row, int part) {
#pragma unroll
  for (int e = 0; e < Config::kKeys; e += 4) {
    const float4 four = *reinterpret_cast<const float4*>(row + key_of(e, part));
    x[e] = four.x;
    x[e + 1] = four.y;
    x[e + 2] = four.z;
    x[e + 3] = four.w;
  }
}

// Given to all lanes of a column; they are kWarpColumns apart.
__device__ __forceinline__ float column_sum(const float (&sums)[4]) {
  float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  sum += __shfl_xor_sync(kFullWarp, sum, Config::kWarpColumns);
  sum += __shfl_xor_sync(kFullWarp, sum, 2 * Config::kWarpColumns);
  return sum;
}

// One token; returns the column's output.
__device__ __forceinline__ float step(float (&s)[Config::kKeys], const float* q_row, const float* k_row,
                                      int part, float v, float g, float beta) {
  const float decay = expf(g);
  float k[Config::kKeys];
  load_part(k, k_row, part);
  float answers[4] = {};
#pragma unroll
  for (int e = 0; e < Config::kKeys; ++e) {
    s[e] *= decay;
    answers[e % 4] = fmaf(k[e], s[e], answers[e % 4]);
  }
  const float u = beta * (v - column_sum(answers));
  float q[Config::kKeys];
  load_part(q, q_row, part);
  float outputs[4] = {};
#pragma unroll
  for (int e = 0; e < Config::kKeys; ++e) {
    s[e] = fmaf(k[e], u, s[e]);
    outputs[e % 4] = fmaf(q[e], s[e], outputs[e % 4]);
  }
  return column_sum(outputs);
}

}  // namespace gdn_f32

// One block for each (sequence, value head, slice of columns).
template <typename T>
__global__ void __launch_bounds__(GdnF32Config::kThreads)
    gdn_f32_kernel(const __grid_constant__ bmk_gdn_prefill_args args) {
  using namespace gdn_f32;
  __shared__ Shared shared;
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
  const int part = lane / Config::kWarpColumns;
  const int own_column = warp * Config::kWarpColumns + lane % Config::kWarpColumns;  // of the block's
  const int first_column = static_cast<int>(blockIdx.x % Config::kSlices) * Config::kColumns;
  const int column = first_column + own_column;
  const unsigned value_heads = static_cast<unsigned>(args.value_heads);
  const unsigned sequence = blockIdx.x / Config::kSlices / value_heads;
  const unsigned value_head = blockIdx.x / Config::kSlices % value_heads;
  const unsigned key_head = value_head * static_cast<unsigned>(args.key_heads) / value_heads;
  const std::int64_t first_row = args.sequences.row_offsets[sequence];
  const std::int64_t rows = args.sequences.row_offsets[sequence + 1] - first_row;
  const T* const q =
      static_cast<const T*>(args.qkv.data) + first_row * args.qkv.row_stride + key_head * Config::kDim;
  const T* const k = q + args.key_heads * Config::kDim;
  const T* const v = static_cast<const T*>(args.qkv.data) + first_row * args.qkv.row_stride +
                     (2 * args.key_heads + value_head) * Config::kDim + first_column;
  const float* const g = static_cast<const float*>(args.g.data) + first_row * args.g.row_stride + value_head;
  const float* const beta =
      static_cast<const float*>(args.beta.data) + first_row * args.beta.row_stride + value_head;
  T* const out =
      static_cast<T*>(args.out.data) + first_row * args.out.row_stride + value_head * Config::kDim + column;

  const std::int64_t state_offset =
      static_cast<std::int64_t>(value_head) * Config::kDim * Config::kDim + column;
  const float* const state_in = args.state_in[sequence];
  float* const state_out = args.state_out[sequence];
  const std::int64_t state_at = state_out == nullptr ? -1 : args.state_at[sequence];
  float s[Config::kKeys];
#pragma unroll
  for (int e = 0; e < Config::kKeys; ++e)
    s[e] = state_in == nullptr ? 0.0f : state_in[state_offset + key_of(e, part) * Config::kDim];

  for (std::int64_t row = 0;; row += Config::kTokens) {
    if (row == state_at) {
#pragma unroll
      for (int e = 0; e < Config::kKeys; ++e) state_out[state_offset + key_of(e, part) * Config::kDim] = s[e];
    }
    if (row >= rows) return;
    const int tokens = rows - row < Config::kTokens ? static_cast<int>(rows - row) : Config::kTokens;
    __syncthreads();
    for (int i = warp; i < tokens; i += Config::kWarps) {
      normalise_row(shared.q[i], q + (row + i) * args.qkv.row_stride, Config::kQueryScale, lane);
      normalise_row(shared.k[i], k + (row + i) * args.qkv.row_stride, 1.0f, lane);
      shared.v[i][lane] = to_float(v[(row + i) * args.qkv.row_stride + lane]);
    }
    if (static_cast<int>(threadIdx.x) < tokens) {
      shared.g[threadIdx.x] = g[(row + threadIdx.x) * args.g.row_stride];
      shared.beta[threadIdx.x] = beta[(row + threadIdx.x) * args.beta.row_stride];
    }
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < tokens; ++i) {
      const float o =
          step(s, shared.q[i], shared.k[i], part, shared.v[i][own_column], shared.g[i], shared.beta[i]);
      if (part == 0) out[(row + i) * args.out.row_stride] = from_float<T>(o);
    }
  }
}

}  // namespace branchmark::cuda
