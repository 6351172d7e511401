// A tile of outputs, kept in registers while k runs. The same statement serves every height of tile, so an
// output's operations do not depend on where it lies.
#pragma once

#include <cstdint>

#include "gemm/lanes.hpp"
#include "gemm/pack.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

// sums[row, column] += x[row, k] · w[k, column] for k = first, first + step, ... below depth, in that order.
// x and w as packed; sums row after row, sums_stride floats apart.
template <int kRows>
inline void multiply_tile(float* sums, int64_t sums_stride, const float* x, const float* w, int64_t first,
                          int64_t step, int64_t depth) {
  Floats sum[kRows][kTileVectors];
  for (int row = 0; row < kRows; ++row) {
    for (int v = 0; v < kTileVectors; ++v) sum[row][v] = load_floats(sums + row * sums_stride + v * kLanes);
  }
  for (int64_t k = first; k < depth; k += step) {
    Floats weights[kTileVectors];
    for (int v = 0; v < kTileVectors; ++v) weights[v] = load_floats(w + k * kTileColumns + v * kLanes);
    for (int row = 0; row < kRows; ++row) {
      const float value = x[row * kBlockDepth + k];
      for (int v = 0; v < kTileVectors; ++v) sum[row][v] += value * weights[v];
    }
  }
  for (int row = 0; row < kRows; ++row) {
    for (int v = 0; v < kTileVectors; ++v) store_floats(sums + row * sums_stride + v * kLanes, sum[row][v]);
  }
}

// The same for a tile of `rows` rows, 1 to kRows.
template <int kRows = kTileRows>
inline void multiply_rows(int64_t rows, float* sums, int64_t sums_stride, const float* x, const float* w,
                          int64_t first, int64_t step, int64_t depth) {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      return multiply_rows<kRows - 1>(rows, sums, sums_stride, x, w, first, step, depth);
    }
  }
  multiply_tile<kRows>(sums, sums_stride, x, w, first, step, depth);
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
