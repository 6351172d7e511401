// out[i] = in[indices[i]], bytes as they are.
#include <cstdint>

#include "ops/copy_row.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

void gather_rows(Workers& workers, const bmk_index_rows_args& args) {
  parallel_for(workers, args.out.rows,
               [&](int64_t row) { copy_row(args.out, row, args.in, args.indices[row]); });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
