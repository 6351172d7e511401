// Fills a matrix from a counter-based generator, the same bits in every module. For element i = row · columns
// + column, modulo 2^64:
//
//   z = key + (i + 1) · 0x9E3779B97F4A7C15;  z = (z ^ z >> 30) · 0xBF58476D1CE4E5B9;
//   z = (z ^ z >> 27) · 0x94D049BB133111EB;  z = z ^ z >> 31            (splitmix64)
//   s = z[0..15] + z[16..31] + z[32..47] + z[48..63] − 131070
//   out = mean + s · 2^exponent                                         (one rounding, then to out's type)
//
// out: [rows, columns], bf16 or f32. s has 18 bits and the power of two is exact, so that the product is
// exact and a fused multiply-add rounds the sum once, as the formula says. Bound by integer arithmetic.
#include <cmath>

#include "common.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

// Exponents of the normal numbers of float32.
constexpr int kMinExponent = -126;
constexpr int kMaxExponent = 127;

__device__ __forceinline__ float synthetic_value(std::uint64_t key, std::uint64_t index, float scale,
                                                 float mean) {
  std::uint64_t z = key + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z = z ^ (z >> 31);
  const int sum = static_cast<int>(z & 0xFFFF) + static_cast<int>(z >> 16 & 0xFFFF) +
                  static_cast<int>(z >> 32 & 0xFFFF) + static_cast<int>(z >> 48) - 131070;
  return fmaf(static_cast<float>(sum), scale, mean);
}

template <typename T>
__global__ void __launch_bounds__(kRowGridThreads)
    synthetic_fill_kernel(std::uint64_t key, float scale, float mean, T* out, std::int64_t stride,
                          std::int64_t columns, unsigned blocks_per_row) {
  const RowPlace place = row_place(blocks_per_row);
  if (place.column >= columns) return;
  const std::uint64_t first = static_cast<std::uint64_t>(place.row * columns + place.column);
  Float8 values;
#pragma unroll
  for (int i = 0; i < kVector; ++i) values.element[i] = synthetic_value(key, first + i, scale, mean);
  store8(out + place.row * stride + place.column, values, valid_at(place.column, columns));
}

}  // namespace

bmk_status synthetic_fill(bmk_stream* stream, const bmk_synthetic_fill_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "synthetic_fill");
    require_matrix(args->out, "synthetic_fill: out");
    if (args->exponent < kMinExponent || args->exponent > kMaxExponent)
      fail(BMK_INVALID_ARGUMENT,
           "synthetic_fill: exponent is " + std::to_string(args->exponent) + ", wanted -126 to 127");
    if (args->out.rows == 0 || args->out.columns == 0) return;
    const RowGrid grid = row_grid(args->out.rows, args->out.columns, "synthetic_fill");
    const float scale = std::ldexp(1.0f, args->exponent);
    for_dtype(args->out.dtype, [&](auto* type) {
      using T = pointee<decltype(type)>;
      synthetic_fill_kernel<T><<<grid.blocks, grid.threads, 0, queue>>>(
          args->key, scale, args->mean, static_cast<T*>(args->out.data), args->out.row_stride,
          args->out.columns, grid.blocks_per_row);
    });
    check_launch("synthetic_fill");
  });
}

}  // namespace branchmark::cuda
