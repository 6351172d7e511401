// A block of x and a tile of w copied into the layout that the tiles read, converted to float32 on the way
// (exactly: every bf16 is a float32). Edges are filled with zeros, whose outputs nobody stores.
#pragma once

#include <cstdint>

#include "branchmark/kernels.h"

namespace branchmark::cpu::BRANCHMARK_ISA {

// Values of k in one packed block. A tile of weights, 32 KiB with AVX-512, then fits a first-level cache.
inline constexpr int64_t kBlockDepth = 128;

// to[row · kBlockDepth + i] = x[first_row + row, first_k + i]
void pack_x(float* to, const bmk_matrix& x, int64_t first_row, int64_t rows, int64_t first_k, int64_t depth);

// One tile of weights: to[i · kTileColumns + column] = w[first_column + column, first_k + i]. Of fewer
// columns than a tile has, the others become zeros.
void pack_w(float* to, const bmk_matrix& w, int64_t first_column, int64_t columns, int64_t first_k,
            int64_t depth);

}  // namespace branchmark::cpu::BRANCHMARK_ISA
