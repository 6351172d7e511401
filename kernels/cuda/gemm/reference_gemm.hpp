// The product in true float32, for operands that are not both bf16.
#pragma once

#include "../stream.hpp"

namespace branchmark::cuda {

// Whether a shape's types go to this product: x or w is f32, and y is of x's type. (bf16 · bf16 is
// cuBLASLt's.)
bool is_reference_product(const bmk_gemm_shape& shape);

// Name of the one algorithm.
inline constexpr const char* kReferenceFingerprint = "branchmark float32, K in order";

// Queues y = x · wᵀ. Arguments were validated; x has at least one row.
void reference_gemm(const bmk_gemm_args& args, cudaStream_t stream);

}  // namespace branchmark::cuda
