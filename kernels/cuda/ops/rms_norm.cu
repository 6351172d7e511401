// out = x · rsqrt(mean(x²) + eps) · (1 + weight).
//
// x, out: [rows, n], bf16 or f32; weight: [1, n], bf16 or f32 as stored. One block per row, order of the sum
// as in rms.cuh. Bound by memory.
#include "ops.hpp"
#include "rms.cuh"

namespace branchmark::cuda {
namespace {

template <typename T, typename W, int kVectors>
__global__ void __launch_bounds__(RmsConfig::kMaxThreads)
    rms_norm_kernel(const T* x, std::int64_t x_stride, const W* weight, float eps, std::int64_t columns,
                    T* out, std::int64_t out_stride) {
  const std::int64_t row = blockIdx.x;
  Float8 values[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t column = rms_column(v);
    values[v] = column < columns ? load8(x + row * x_stride + column, valid_at(column, columns)) : Float8{};
  }
  rms_norm_row(values, weight, eps, columns, out + row * out_stride);
}

}  // namespace

bmk_status rms_norm(bmk_stream* stream, const bmk_rms_norm_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "rms_norm");
    const bmk_matrix& x = args->x;
    const bmk_matrix& out = args->out;
    require_matrix(x, "rms_norm: x");
    require_at_least(x.columns, 1, "rms_norm: x.columns");
    require_epsilon(args->eps, "rms_norm: eps");
    require_numerics(args->numerics, x.dtype, "rms_norm");
    require_matrix(out, "rms_norm: out", x.rows, x.columns, x.dtype);
    require_weight(args->weight, "rms_norm: weight", 1, x.columns);
    if (x.rows == 0) return;
    const unsigned blocks = grid_of(x.rows, "rms_norm");
    for_rms_config(x.columns, "rms_norm", [&](unsigned threads, auto vectors) {
      for_dtype(x.dtype, [&](auto* type) {
        for_dtype(args->weight.dtype, [&](auto* weight_type) {
          using T = pointee<decltype(type)>;
          using W = pointee<decltype(weight_type)>;
          rms_norm_kernel<T, W, decltype(vectors)::value><<<blocks, threads, 0, queue>>>(
              static_cast<const T*>(x.data), x.row_stride, static_cast<const W*>(args->weight.data),
              args->eps, x.columns, static_cast<T*>(out.data), out.row_stride);
        });
      });
    });
    check_launch("rms_norm");
  });
}

}  // namespace branchmark::cuda
