// out[indices[i]] = in[i], bytes as they are. Indices are distinct, so no two threads write one row.
#include <cstdint>

#include "ops/copy_row.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

void scatter_rows(Workers& workers, const bmk_index_rows_args& args) {
  parallel_for(workers, args.in.rows,
               [&](int64_t row) { copy_row(args.out, args.indices[row], args.in, row); });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
