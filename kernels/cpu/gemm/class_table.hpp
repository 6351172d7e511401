// The class of a shape: which algorithms give the bits of the fixed one, and which of them is the fastest for
// how many rows.
#pragma once

#include <array>
#include <cstdint>

#include "gemm/algorithm.hpp"
#include "gemm/problem.hpp"

namespace branchmark::cpu {

// Rows are counted in buckets [2^b, 2^(b + 1)), the last one open.
inline constexpr int kNumRowBuckets = 11;
int row_bucket(int64_t rows);

struct ClassTable {
  std::array<bool, kNumGemmAlgorithms> in_class{};
  uint64_t digest = 0;  // FNV-1a of the members' fingerprints and of the fixed algorithm's output bits
  std::array<int64_t, kNumRowBuckets> fastest{};  // by bucket; all the fixed one until timed
};

// Runs every algorithm on random data of three seeds and compares its bits with the fixed one's.
//
// The product has few rows and columns but all of K: an output is a sum over k, and what could tell two
// algorithms apart is the order of that sum, which K alone decides. Rows and columns are odd numbers, so that
// blocks and tiles with edges take part.
ClassTable prove_class(const GemmRunner& runner, const bmk_gemm_shape& shape);

// Times the members for every bucket and fills in `fastest`. Times closer than a few per cent are a tie,
// which goes to the lower index. Rate hardly depends on the length of K, so that long K and N are cut for
// this.
void time_class(const GemmRunner& runner, const bmk_gemm_shape& shape, ClassTable& table);

}  // namespace branchmark::cpu
