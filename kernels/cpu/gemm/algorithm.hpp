// The GEMM algorithms of the CPU module, as data: what a handle chooses from, and what the compute side runs.
//
// An output's value is fixed by `split_k` and `interleave` alone: with both 1 it is one float32 accumulator
// that takes x[k] · w[k] for k = 0, 1, ... in order, multiplied, then added. Blocks only say which outputs
// are computed together. The handles rely on none of this: a class is proven by comparing bits.
#pragma once

#include <cstdint>

namespace branchmark::cpu {

struct GemmAlgorithm {
  const char* fingerprint;
  int64_t block_rows;     // outputs that one worker computes at a time
  int64_t block_columns;  // a multiple of 64, so that every instruction set's tile divides it
  int64_t split_k;        // ranges that K is cut into; their sums are added in order
  int64_t interleave;     // accumulators that take the k of a range in turn; added in order at its end
};

inline constexpr int64_t kGemmMaxBlockRows = 192;
inline constexpr int64_t kGemmMaxBlockColumns = 256;

// Index 0 is the fixed one. The last three differ in bits on purpose: they are what DEFAULT picks for few
// rows, in the way of a vendor's heuristic, and the negative controls of the checks.
inline constexpr GemmAlgorithm kGemmAlgorithms[] = {
    {"cpu/ordered/block=192x256", 192, 256, 1, 1}, {"cpu/ordered/block=192x128", 192, 128, 1, 1},
    {"cpu/ordered/block=96x64", 96, 64, 1, 1},     {"cpu/ordered/block=24x64", 24, 64, 1, 1},
    {"cpu/paired/block=96x128", 96, 128, 1, 2},    {"cpu/split_k=2/block=96x128", 96, 128, 2, 1},
    {"cpu/split_k=4/block=96x128", 96, 128, 4, 1},
};
inline constexpr int64_t kNumGemmAlgorithms = sizeof(kGemmAlgorithms) / sizeof(kGemmAlgorithms[0]);
inline constexpr int64_t kGemmFixed = 0;
inline constexpr int64_t kGemmPaired = 4;
inline constexpr int64_t kGemmSplit2 = 5;
inline constexpr int64_t kGemmSplit4 = 6;

}  // namespace branchmark::cpu
