// Small dense products c += a · b in float32, for the ops that multiply tiles of 64 tokens.
//
// Order: each element of c starts from its value and adds a(i, k) · b[k, j] for k ascending, one product and
// one sum at a time. Vectors lie along j, so neither their width nor the number of rows that are worked on
// together touches that order: a row of c has the same bits in any block and on any instruction set.
#pragma once

#include <cstdint>

#include "gemm/lanes.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

// The left operand: element (i, k) is data[i · row_stride + k · column_stride]. A transpose swaps the two.
struct LeftOperand {
  const float* data;
  int64_t row_stride;
  int64_t column_stride;

  LeftOperand from_row(int64_t i) const { return {data + i * row_stride, row_stride, column_stride}; }
};

// Every product has a multiple of this many columns.
inline constexpr int64_t kColumnMultiple = 32;
static_assert(kColumnMultiple % (2 * kLanes) == 0, "columns are worked on two vectors at a time");

// Rows [0, kRows) of c, the sums over k in [first, last).
template <int64_t kRows>
inline void multiply_add_rows(int64_t columns, int64_t first, int64_t last, LeftOperand a, const float* b,
                              int64_t b_stride, float* c, int64_t c_stride) {
  for (int64_t j = 0; j < columns; j += 2 * kLanes) {
    Floats sums[kRows][2];
    for (int64_t i = 0; i < kRows; ++i) {
      sums[i][0] = load_floats(c + i * c_stride + j);
      sums[i][1] = load_floats(c + i * c_stride + j + kLanes);
    }
    for (int64_t k = first; k < last; ++k) {
      const Floats left = load_floats(b + k * b_stride + j);
      const Floats right = load_floats(b + k * b_stride + j + kLanes);
      for (int64_t i = 0; i < kRows; ++i) {
        const float factor = a.data[i * a.row_stride + k * a.column_stride];
        sums[i][0] += factor * left;
        sums[i][1] += factor * right;
      }
    }
    for (int64_t i = 0; i < kRows; ++i) {
      store_floats(c + i * c_stride + j, sums[i][0]);
      store_floats(c + i * c_stride + j + kLanes, sums[i][1]);
    }
  }
}

// Rows that share what is loaded of b.
inline constexpr int64_t kSharedRows = 4;

// c[rows, columns] += a[rows, depth] · b[depth, columns].
inline void multiply_add(int64_t rows, int64_t columns, int64_t depth, LeftOperand a, const float* b,
                         int64_t b_stride, float* c, int64_t c_stride) {
  for (int64_t i = 0; i < rows; i += kSharedRows) {
    if (rows - i >= kSharedRows) {
      multiply_add_rows<kSharedRows>(columns, 0, depth, a.from_row(i), b, b_stride, c + i * c_stride,
                                     c_stride);
    } else {
      for (int64_t r = i; r < rows; ++r) {
        multiply_add_rows<1>(columns, 0, depth, a.from_row(r), b, b_stride, c + r * c_stride, c_stride);
      }
    }
  }
}

// c[rows, columns] += a[rows, rows] · b[rows, columns] for a lower triangular a, diagonal included: row i
// adds k <= i only. What stands above the diagonal of a, or after row i of b, does not enter, not even times
// 0.
inline void multiply_add_lower(int64_t rows, int64_t columns, LeftOperand a, const float* b, int64_t b_stride,
                               float* c, int64_t c_stride) {
  for (int64_t i = 0; i < rows; i += kSharedRows) {
    const int64_t end = rows - i < kSharedRows ? rows : i + kSharedRows;
    const int64_t shared_depth = end - i == kSharedRows ? i : 0;
    if (shared_depth > 0) {
      multiply_add_rows<kSharedRows>(columns, 0, shared_depth, a.from_row(i), b, b_stride, c + i * c_stride,
                                     c_stride);
    }
    for (int64_t r = i; r < end; ++r) {
      multiply_add_rows<1>(columns, shared_depth, r + 1, a.from_row(r), b, b_stride, c + r * c_stride,
                           c_stride);
    }
  }
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
