// Moving rows between matrices, the part that embed, gather, scatter and the 2-D copy share: a route says
// which row goes where, types are converted where they differ (to bf16 to nearest even) and copied bit by bit
// where they do not. Elementwise; bound by memory.
#pragma once

#include "common.cuh"

namespace branchmark::cuda {

// Rows that the i-th move reads and writes.
struct RowMove {
  std::int64_t from;
  std::int64_t to;
};

template <typename In, typename Out, typename Route>
__global__ void __launch_bounds__(kRowGridThreads)
    move_rows_kernel(const In* in, std::int64_t in_stride, Out* out, std::int64_t out_stride,
                     std::int64_t columns, unsigned blocks_per_row, Route route) {
  const RowPlace place = row_place(blocks_per_row);
  if (place.column >= columns) return;
  const RowMove move = route(place.row);
  const int valid = valid_at(place.column, columns);
  const In* source = in + move.from * in_stride + place.column;
  Out* destination = out + move.to * out_stride + place.column;
  if constexpr (std::is_same_v<In, Out>)
    store_raw8(destination, load_raw8(source, valid), valid);
  else
    store8(destination, load8(source, valid), valid);
}

// Queues `rows` moves. The matrices were validated and have the same number of columns.
template <typename Route>
void launch_move_rows(cudaStream_t queue, const bmk_matrix& in, const bmk_matrix& out, std::int64_t rows,
                      const Route& route, const char* op) {
  if (rows == 0 || out.columns == 0) return;
  const RowGrid grid = row_grid(rows, out.columns, op);
  for_dtype(in.dtype, [&](auto* in_type) {
    for_dtype(out.dtype, [&](auto* out_type) {
      using In = pointee<decltype(in_type)>;
      using Out = pointee<decltype(out_type)>;
      move_rows_kernel<In, Out, Route><<<grid.blocks, grid.threads, 0, queue>>>(
          static_cast<const In*>(in.data), in.row_stride, static_cast<Out*>(out.data), out.row_stride,
          out.columns, grid.blocks_per_row, route);
    });
  });
  check_launch(op);
}

}  // namespace branchmark::cuda
