// *first_index ← min(*first_index, row · columns + column) over the elements that are NaN or infinite.
//
// x: [rows, columns], bf16 or f32. An integer minimum has no order, so that the atomic keeps the result
// exact. Bound by memory.
#include "common.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

// 64-bit atomics take this type; indices are never negative, so that the order is the same.
using AtomicIndex = unsigned long long;

template <typename T>
__global__ void __launch_bounds__(kRowGridThreads)
    non_finite_scan_kernel(const T* x, std::int64_t stride, std::int64_t columns, unsigned blocks_per_row,
                           AtomicIndex* first_index) {
  const RowPlace place = row_place(blocks_per_row);
  if (place.column >= columns) return;
  const Float8 values = load8(x + place.row * stride + place.column, valid_at(place.column, columns));
  int found = kVector;
#pragma unroll
  for (int i = kVector - 1; i >= 0; --i)
    if (!isfinite(values.element[i])) found = i;
  if (found < kVector)
    atomicMin(first_index, static_cast<AtomicIndex>(place.row * columns + place.column + found));
}

}  // namespace

bmk_status non_finite_scan(bmk_stream* stream, const bmk_non_finite_scan_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "non_finite_scan");
    const bmk_matrix& x = args->x;
    require_matrix(x, "non_finite_scan: x");
    require_pointer(args->first_index, "non_finite_scan: first_index");
    if (x.rows == 0 || x.columns == 0) return;
    const RowGrid grid = row_grid(x.rows, x.columns, "non_finite_scan");
    for_dtype(x.dtype, [&](auto* type) {
      using T = pointee<decltype(type)>;
      non_finite_scan_kernel<T><<<grid.blocks, grid.threads, 0, queue>>>(
          static_cast<const T*>(x.data), x.row_stride, x.columns, grid.blocks_per_row,
          reinterpret_cast<AtomicIndex*>(args->first_index));
    });
    check_launch("non_finite_scan");
  });
}

}  // namespace branchmark::cuda
