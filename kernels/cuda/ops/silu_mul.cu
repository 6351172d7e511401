// out = round(round(silu(gate)) · up), silu(x) = x / (1 + e^−x).
//
// gate, up, out: [rows, n], bf16 or f32. Elementwise. Bound by memory: two reads and one write an element.
#include "common.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

template <typename T>
__global__ void __launch_bounds__(kRowGridThreads)
    silu_mul_kernel(const T* gate, std::int64_t gate_stride, const T* up, std::int64_t up_stride, T* out,
                    std::int64_t out_stride, std::int64_t columns, unsigned blocks_per_row) {
  const RowPlace place = row_place(blocks_per_row);
  if (place.column >= columns) return;
  const int valid = valid_at(place.column, columns);
  const Float8 g = load8(gate + place.row * gate_stride + place.column, valid);
  const Float8 u = load8(up + place.row * up_stride + place.column, valid);
  Float8 y;
#pragma unroll
  for (int i = 0; i < kVector; ++i) y.element[i] = round_to<T>(silu<T>(g.element[i])) * u.element[i];
  store8(out + place.row * out_stride + place.column, y, valid);
}

}  // namespace

bmk_status silu_mul(bmk_stream* stream, const bmk_silu_mul_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "silu_mul");
    const bmk_matrix& gate = args->gate;
    const bmk_matrix& up = args->up;
    const bmk_matrix& out = args->out;
    require_matrix(gate, "silu_mul: gate");
    require_numerics(args->numerics, gate.dtype, "silu_mul");
    require_matrix(up, "silu_mul: up", gate.rows, gate.columns, gate.dtype);
    require_matrix(out, "silu_mul: out", gate.rows, gate.columns, gate.dtype);
    if (gate.rows == 0 || gate.columns == 0) return;
    const RowGrid grid = row_grid(gate.rows, gate.columns, "silu_mul");
    for_dtype(gate.dtype, [&](auto* type) {
      using T = pointee<decltype(type)>;
      silu_mul_kernel<T><<<grid.blocks, grid.threads, 0, queue>>>(
          static_cast<const T*>(gate.data), gate.row_stride, static_cast<const T*>(up.data), up.row_stride,
          static_cast<T*>(out.data), out.row_stride, gate.columns, grid.blocks_per_row);
    });
    check_launch("silu_mul");
  });
}

}  // namespace branchmark::cuda
