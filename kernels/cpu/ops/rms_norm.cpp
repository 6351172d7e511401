// out = x · rsqrt(mean(x²) + eps) · (1 + weight), row by row.
#include <cstdint>

#include "ops/norm_row.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

void rms_norm(Workers& workers, const bmk_rms_norm_args& args) {
  parallel_for(workers, args.x.rows,
               [&](int64_t row) { rms_norm_row(args.x, args.weight, args.out, args.eps, row); });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
