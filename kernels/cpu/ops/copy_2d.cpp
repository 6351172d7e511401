// out = in, element by element; bf16 to f32 is exact, f32 to bf16 goes to the nearest, ties to even.
#include <cstdint>

#include "ops/copy_row.hpp"
#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

void copy_2d(Workers& workers, const bmk_copy_2d_args& args) {
  const bmk_matrix& in = args.in;
  const bmk_matrix& out = args.out;
  parallel_for(workers, out.rows, [&](int64_t row) {
    if (in.dtype == out.dtype) return copy_row(out, row, in, row);
    for (int64_t column = 0; column < out.columns; ++column) {
      const float value = load(in.data, row * in.row_stride + column, in.dtype);
      store(out.data, row * out.row_stride + column, out.dtype, value);
    }
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
