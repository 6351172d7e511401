// What a GEMM handle tells a report.
#pragma once

#include <string>

#include "gemm.hpp"

namespace branchmark::cuda {

// The JSON object of bmk_gemm_api.describe. Fingerprints stand once per shape, tables hold indices.
std::string describe_gemm(const bmk_gemm& gemm);

const char* name_of_kind(bmk_gemm_kind kind);

}  // namespace branchmark::cuda
