// A small product on made-up data, on which algorithms are compared and timed.
#pragma once

#include <cstdint>
#include <vector>

#include "branchmark/kernels.h"
#include "gemm/runner.hpp"

namespace branchmark::cpu {

class GemmProblem {
 public:
  // x is [rows, k], w [columns, k], of the types of `shape`. Values are near to normal with deviation one,
  // rounded to bf16 whatever the type; `seed` decides them. Their second halves cancel the first ones.
  GemmProblem(const GemmRunner& runner, const bmk_gemm_shape& shape, int64_t rows, int64_t columns, int64_t k,
              uint64_t seed);

  // y of one algorithm, written over NaNs. Its bytes stay valid until the next call.
  const std::vector<unsigned char>& run(const GemmAlgorithm& algorithm);
  // Shortest of `repeats` runs.
  double seconds(const GemmAlgorithm& algorithm, int repeats);

 private:
  const GemmRunner& runner_;
  std::vector<unsigned char> x_, w_, y_;
  bmk_gemm_args args_;
};

}  // namespace branchmark::cpu
