// out = in, element by element, between any two strides and types.
//
// in, out: [rows, columns], bf16 or f32; bf16 to f32 is exact, f32 to bf16 to nearest even, equal types are
// copied bit by bit. Bound by memory.
#include "move_rows.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

struct SameRow {
  __device__ RowMove operator()(std::int64_t row) const { return {row, row}; }
};

}  // namespace

bmk_status copy_2d(bmk_stream* stream, const bmk_copy_2d_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "copy_2d");
    require_matrix(args->in, "copy_2d: in");
    require_matrix(args->out, "copy_2d: out", args->in.rows, args->in.columns, args->out.dtype);
    launch_move_rows(queue, args->in, args->out, args->out.rows, SameRow{}, "copy_2d");
  });
}

}  // namespace branchmark::cuda
