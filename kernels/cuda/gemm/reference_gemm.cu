// y[M, N] = x[M, K] · w[N, K]ᵀ in float32, without tensor cores.
//
// x, y: f32 with w: f32 or bf16, or x, y: bf16 with w: f32. Every output is one chain of fused multiply-adds
// over k = 0, 1, ..., K − 1, whatever its tile: a row depends on itself alone. A block makes 64 × 128
// outputs, a thread 4 × 8; 16 columns of K at a time go through shared memory, transposed. Bound by float32
// arithmetic.
#include "../ops/common.cuh"
#include "reference_gemm.hpp"

namespace branchmark::cuda {
namespace {

struct ReferenceConfig {
  static constexpr int kTileRows = 64;
  static constexpr int kTileColumns = 128;
  static constexpr int kTileInner = 16;
  static constexpr int kThreadRows = 4;
  static constexpr int kQuad = 4;  // columns in one 16-byte read; a thread has two quads, half a tile apart
  static constexpr int kThreadsAcross = kTileColumns / (2 * kQuad);
  static constexpr int kThreads = kThreadsAcross * (kTileRows / kThreadRows);
  static constexpr int kMinBlocks =
      2;                          // of a multiprocessor: up to 128 registers, so that the sums stay in them
  static constexpr int kPad = 4;  // floats; keeps rows 16-byte aligned and off each other's banks
  static constexpr int kQuadsPerRow = kTileInner / kQuad;
  static_assert(kThreads == kTileRows * kQuadsPerRow, "each thread loads one quad of x");
  static_assert(kTileColumns % kTileRows == 0, "w is loaded in whole rounds of the block");
};

// Four consecutive elements, zeros past the first `valid`. Strides are multiples of eight and columns here of
// four, so that the access is aligned.
template <typename T>
__device__ __forceinline__ float4 load4(const T* p, std::int64_t valid) {
  struct alignas(4 * sizeof(T)) Raw4 {
    T element[4];
  };
  if (valid >= 4) {
    const Raw4 raw = *reinterpret_cast<const Raw4*>(p);
    return {to_float(raw.element[0]), to_float(raw.element[1]), to_float(raw.element[2]),
            to_float(raw.element[3])};
  }
  return {valid > 0 ? to_float(p[0]) : 0.0f, valid > 1 ? to_float(p[1]) : 0.0f,
          valid > 2 ? to_float(p[2]) : 0.0f, 0.0f};
}

template <typename T>
__device__ __forceinline__ void store4(T* p, float4 values, std::int64_t valid) {
  struct alignas(4 * sizeof(T)) Raw4 {
    T element[4];
  };
  const Raw4 raw = {
      {from_float<T>(values.x), from_float<T>(values.y), from_float<T>(values.z), from_float<T>(values.w)}};
  if (valid >= 4) {
    *reinterpret_cast<Raw4*>(p) = raw;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i < valid) p[i] = raw.element[i];
}

// One row of a tile, transposed: tile[k][row] for four k. Rows past the matrix's end are zeros.
template <typename T, int kWidth>
__device__ __forceinline__ void load_quad(const T* data, std::int64_t stride, std::int64_t rows,
                                          std::int64_t inner, std::int64_t first_row, std::int64_t first_k,
                                          int row, int quad,
                                          float (&tile)[ReferenceConfig::kTileInner][kWidth]) {
  const std::int64_t k = first_k + quad * ReferenceConfig::kQuad;
  float4 values{};
  if (first_row + row < rows) values = load4(data + (first_row + row) * stride + k, inner - k);
  tile[quad * ReferenceConfig::kQuad][row] = values.x;
  tile[quad * ReferenceConfig::kQuad + 1][row] = values.y;
  tile[quad * ReferenceConfig::kQuad + 2][row] = values.z;
  tile[quad * ReferenceConfig::kQuad + 3][row] = values.w;
}

template <typename X, typename W>
__global__ void __launch_bounds__(ReferenceConfig::kThreads, ReferenceConfig::kMinBlocks)
    reference_gemm_kernel(const X* x, std::int64_t x_stride, const W* w, std::int64_t w_stride, X* y,
                          std::int64_t y_stride, std::int64_t rows, std::int64_t columns, std::int64_t inner,
                          unsigned tiles_across) {
  using Config = ReferenceConfig;
  __shared__ alignas(16) float x_tile[Config::kTileInner][Config::kTileRows + Config::kPad];
  __shared__ alignas(16) float w_tile[Config::kTileInner][Config::kTileColumns + Config::kPad];
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x / tiles_across) * Config::kTileRows;
  const std::int64_t first_column =
      static_cast<std::int64_t>(blockIdx.x % tiles_across) * Config::kTileColumns;
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / Config::kThreadsAcross * Config::kThreadRows;
  const int column = thread % Config::kThreadsAcross * Config::kQuad;

  float sums[Config::kThreadRows][2 * Config::kQuad] = {};
  for (std::int64_t k = 0; k < inner; k += Config::kTileInner) {
    const int load_row = thread / Config::kQuadsPerRow;
    const int quad = thread % Config::kQuadsPerRow;
    load_quad(x, x_stride, rows, inner, first_row, k, load_row, quad, x_tile);
#pragma unroll
    for (int round = 0; round < Config::kTileColumns / Config::kTileRows; ++round)
      load_quad(w, w_stride, columns, inner, first_column, k, load_row + round * Config::kTileRows, quad,
                w_tile);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Config::kTileInner; ++i) {
      const float4 left = *reinterpret_cast<const float4*>(&x_tile[i][row]);
      const float4 near = *reinterpret_cast<const float4*>(&w_tile[i][column]);
      const float4 far = *reinterpret_cast<const float4*>(&w_tile[i][column + Config::kTileColumns / 2]);
      const float a[Config::kThreadRows] = {left.x, left.y, left.z, left.w};
      const float b[2 * Config::kQuad] = {near.x, near.y, near.z, near.w, far.x, far.y, far.z, far.w};
#pragma unroll
      for (int r = 0; r < Config::kThreadRows; ++r)
#pragma unroll
        for (int c = 0; c < 2 * Config::kQuad; ++c) sums[r][c] = fmaf(a[r], b[c], sums[r][c]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < Config::kThreadRows; ++r) {
    if (first_row + row + r >= rows) break;
    X* line = y + (first_row + row + r) * y_stride;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t c = first_column + column + half * (Config::kTileColumns / 2);
      const float* s = &sums[r][half * Config::kQuad];
      store4(line + c, {s[0], s[1], s[2], s[3]}, columns - c);
    }
  }
}

template <typename X, typename W>
void launch(const bmk_gemm_args& args, cudaStream_t stream) {
  const std::int64_t tiles_across = ceil_div(args.y.columns, ReferenceConfig::kTileColumns);
  const std::int64_t tiles_down = ceil_div(args.y.rows, ReferenceConfig::kTileRows);
  const unsigned blocks = grid_of(tiles_across * tiles_down, "gemm");
  reference_gemm_kernel<X, W><<<blocks, ReferenceConfig::kThreads, 0, stream>>>(
      static_cast<const X*>(args.x.data), args.x.row_stride, static_cast<const W*>(args.w.data),
      args.w.row_stride, static_cast<X*>(args.y.data), args.y.row_stride, args.y.rows, args.y.columns,
      args.x.columns, static_cast<unsigned>(tiles_across));
  check_launch("gemm");
}

}  // namespace

bool is_reference_product(const bmk_gemm_shape& shape) {
  const bool same = shape.x_dtype == shape.y_dtype;
  return same && (shape.x_dtype == BMK_F32 || shape.w_dtype == BMK_F32);
}

void reference_gemm(const bmk_gemm_args& args, cudaStream_t stream) {
  if (args.x.dtype == BMK_BF16)
    launch<__nv_bfloat16, float>(args, stream);
  else if (args.w.dtype == BMK_BF16)
    launch<float, __nv_bfloat16>(args, stream);
  else
    launch<float, float>(args, stream);
}

}  // namespace branchmark::cuda
