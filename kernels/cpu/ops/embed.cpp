// out[r] = table[ids[r]], converted to out's type.
#include <cstdint>

#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

void embed(Workers& workers, const bmk_embed_args& args) {
  const bmk_matrix& table = args.table;
  const bmk_matrix& out = args.out;
  parallel_for(workers, out.rows, [&](int64_t row) {
    const int64_t from = args.ids[row] * table.row_stride;
    for (int64_t column = 0; column < out.columns; ++column) {
      const float value = load(table.data, from + column, table.dtype);
      store(out.data, row * out.row_stride + column, out.dtype, value);
    }
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
