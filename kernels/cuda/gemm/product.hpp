// The bf16 product by any algorithm, cuBLASLt's or the module's own.
#pragma once

#include "cublas_lt.hpp"

namespace branchmark::cuda {

// Whether the algorithm can serve the problem. Host only.
bool serves(const LtContext& context, const Problem& problem, const Algorithm& algorithm);

// Queues the product. A size that the algorithm cannot serve after all is BMK_UNSERVED_SIZE.
void multiply(const LtContext& context, const Problem& problem, const Algorithm& algorithm, const void* x,
              const void* w, void* y, cudaStream_t stream);

}  // namespace branchmark::cuda
