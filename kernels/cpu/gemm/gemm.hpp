// y[M, N] = x[M, K] · w[N, K]ᵀ with one of kGemmAlgorithms.
#pragma once

#include <cstdint>

#include "branchmark/kernels.h"
#include "gemm/algorithm.hpp"
#include "workers.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

// Bytes of scratch that a product needs, whatever its sizes: a few blocks for each worker.
int64_t gemm_scratch_bytes(int64_t num_threads);

// `scratch`: gemm_scratch_bytes(workers.num_threads()) bytes, aligned to 64, used by one product at a time.
void gemm(Workers& workers, const GemmAlgorithm& algorithm, const bmk_gemm_args& args, void* scratch);

}  // namespace branchmark::cpu::BRANCHMARK_ISA
