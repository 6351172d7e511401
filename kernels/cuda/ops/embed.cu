// out[r] = table[ids[r]], converted to out's type.
//
// ids: [rows] int32; table: [vocabulary, hidden], bf16 or f32 as stored; out: [rows, hidden], bf16 or f32. No
// accumulation. Bound by memory: one table row read and one row written per token.
#include "move_rows.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

struct EmbedRoute {
  const std::int32_t* ids;
  __device__ RowMove operator()(std::int64_t row) const { return {ids[row], row}; }
};

}  // namespace

bmk_status embed(bmk_stream* stream, const bmk_embed_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "embed");
    require_matrix(args->table, "embed: table");
    require_matrix(args->out, "embed: out");
    require_equal(args->table.columns, args->out.columns, "embed: table.columns");
    if (args->out.rows > 0) require_pointer(args->ids, "embed: ids");
    launch_move_rows(queue, args->table, args->out, args->out.rows, EmbedRoute{args->ids}, "embed");
  });
}

}  // namespace branchmark::cuda
