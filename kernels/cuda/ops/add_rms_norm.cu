// residual ← round(residual + delta); out = rms_norm(residual), the same bits as rms_norm of the sum.
//
// residual (in and out), delta, out: [rows, n], bf16 or f32; weight: [1, n], bf16 or f32 as stored. One block
// per row, order of the sum as in rms.cuh, over the rounded values that were stored. Bound by memory.
#include "ops.hpp"
#include "rms.cuh"

namespace branchmark::cuda {
namespace {

template <typename T, typename W, int kVectors>
__global__ void __launch_bounds__(RmsConfig::kMaxThreads)
    add_rms_norm_kernel(T* residual, std::int64_t residual_stride, const T* delta, std::int64_t delta_stride,
                        const W* weight, float eps, std::int64_t columns, T* out, std::int64_t out_stride) {
  const std::int64_t row = blockIdx.x;
  Float8 values[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t column = rms_column(v);
    values[v] = Float8{};
    if (column >= columns) continue;
    const int valid = valid_at(column, columns);
    T* place = residual + row * residual_stride + column;
    const Float8 before = load8(place, valid);
    const Float8 added = load8(delta + row * delta_stride + column, valid);
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      values[v].element[i] = round_to<T>(before.element[i] + added.element[i]);
    store8(place, values[v], valid);
  }
  rms_norm_row(values, weight, eps, columns, out + row * out_stride);
}

}  // namespace

bmk_status add_rms_norm(bmk_stream* stream, const bmk_add_rms_norm_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "add_rms_norm");
    const bmk_matrix& residual = args->residual;
    const bmk_matrix& delta = args->delta;
    const bmk_matrix& out = args->out;
    require_matrix(residual, "add_rms_norm: residual");
    require_at_least(residual.columns, 1, "add_rms_norm: residual.columns");
    require_epsilon(args->eps, "add_rms_norm: eps");
    require_numerics(args->numerics, residual.dtype, "add_rms_norm");
    require_matrix(delta, "add_rms_norm: delta", residual.rows, residual.columns, residual.dtype);
    require_matrix(out, "add_rms_norm: out", residual.rows, residual.columns, residual.dtype);
    require_weight(args->weight, "add_rms_norm: weight", 1, residual.columns);
    if (residual.rows == 0) return;
    const unsigned blocks = grid_of(residual.rows, "add_rms_norm");
    for_rms_config(residual.columns, "add_rms_norm", [&](unsigned threads, auto vectors) {
      for_dtype(residual.dtype, [&](auto* type) {
        for_dtype(args->weight.dtype, [&](auto* weight_type) {
          using T = pointee<decltype(type)>;
          using W = pointee<decltype(weight_type)>;
          add_rms_norm_kernel<T, W, decltype(vectors)::value><<<blocks, threads, 0, queue>>>(
              static_cast<T*>(residual.data), residual.row_stride, static_cast<const T*>(delta.data),
              delta.row_stride, static_cast<const W*>(args->weight.data), args->eps, residual.columns,
              static_cast<T*>(out.data), out.row_stride);
        });
      });
    });
    check_launch("add_rms_norm");
  });
}

}  // namespace branchmark::cuda
