// residual ← round(residual + delta); out = rms_norm of the rounded residual.
#include <cstdint>

#include "ops/norm_row.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

void add_rms_norm(Workers& workers, const bmk_add_rms_norm_args& args) {
  const bmk_matrix& residual = args.residual;
  const bmk_matrix& delta = args.delta;
  parallel_for(workers, residual.rows, [&](int64_t row) {
    for (int64_t i = 0; i < residual.columns; ++i) {
      const int64_t index = row * residual.row_stride + i;
      const float sum = load(residual.data, index, residual.dtype) +
                        load(delta.data, row * delta.row_stride + i, delta.dtype);
      store(residual.data, index, residual.dtype, sum);
    }
    rms_norm_row(residual, args.weight, args.out, args.eps, row);
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
