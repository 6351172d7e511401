// One row of a matrix copied into a row of another of the same type, what gathering and scattering share.
#pragma once

#include <cstdint>
#include <cstring>

#include "branchmark/kernels.h"

namespace branchmark::cpu::BRANCHMARK_ISA {

inline void copy_row(const bmk_matrix& out, int64_t out_row, const bmk_matrix& in, int64_t in_row) {
  const int64_t element_bytes = in.dtype == BMK_BF16 ? 2 : 4;
  memcpy(static_cast<char*>(out.data) + out_row * out.row_stride * element_bytes,
         static_cast<const char*>(in.data) + in_row * in.row_stride * element_bytes,
         static_cast<size_t>(in.columns * element_bytes));
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
