// One way to compute y = x · wᵀ: an algorithm of cuBLASLt, or a kernel of the module's own.
#pragma once

#include <cublasLt.h>

#include <optional>
#include <string>

#include "../tuning/few_rows.hpp"
#include "../tuning/fingerprint.hpp"

namespace branchmark::cuda {

struct Algorithm {
  cublasLtMatmulAlgo_t handle{};  // means nothing where the kernel is the module's own
  AlgorithmSettings settings;
  std::optional<FewRowsSettings> few_rows;  // the module's own kernel; unsplit
  std::string fingerprint;
  bool in_class = false;  // proven to give the bits of the fixed algorithm
};

}  // namespace branchmark::cuda
