// out[i] = in[indices[i]].
//
// indices: [out.rows] int64; in, out: same columns, same dtype, copied bit by bit. Bound by memory.
#include "move_rows.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

struct GatherRoute {
  const std::int64_t* indices;
  __device__ RowMove operator()(std::int64_t row) const { return {indices[row], row}; }
};

}  // namespace

bmk_status gather_rows(bmk_stream* stream, const bmk_index_rows_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "gather_rows");
    require_matrix(args->in, "gather_rows: in");
    require_matrix(args->out, "gather_rows: out", args->out.rows, args->in.columns, args->in.dtype);
    if (args->out.rows > 0) require_pointer(args->indices, "gather_rows: indices");
    launch_move_rows(queue, args->in, args->out, args->out.rows, GatherRoute{args->indices}, "gather_rows");
  });
}

}  // namespace branchmark::cuda
