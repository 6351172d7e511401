// out[indices[i]] = in[i].
//
// indices: [in.rows] int64, distinct, so that no two blocks write one row; in, out: same columns, same dtype,
// copied bit by bit. Bound by memory.
#include "move_rows.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

struct ScatterRoute {
  const std::int64_t* indices;
  __device__ RowMove operator()(std::int64_t row) const { return {row, indices[row]}; }
};

}  // namespace

bmk_status scatter_rows(bmk_stream* stream, const bmk_index_rows_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "scatter_rows");
    require_matrix(args->in, "scatter_rows: in");
    require_matrix(args->out, "scatter_rows: out", args->out.rows, args->in.columns, args->in.dtype);
    require_at_least(args->out.rows, args->in.rows, "scatter_rows: out.rows");
    if (args->in.rows > 0) require_pointer(args->indices, "scatter_rows: indices");
    launch_move_rows(queue, args->in, args->out, args->in.rows, ScatterRoute{args->indices}, "scatter_rows");
  });
}

}  // namespace branchmark::cuda
