// How long the L2 cache should keep what a tensor copy reads: operands named "policy" of tensor_copy.cuh.
//
// The values are what createpolicy.fractional makes for a fraction of 1.0; an H200 met an illegal instruction
// where cp.async took such a policy together with a source size of zero, so that only the tensor copies use
// them.
#pragma once

#include <cstdint>

namespace branchmark::cuda::ptx {

// For what is read once.
__device__ __forceinline__ std::uint64_t evict_first_policy() {
  return 0x12F0000000000000ull;
}

// As without a policy.
__device__ __forceinline__ std::uint64_t evict_normal_policy() {
  return 0x1000000000000000ull;
}

}  // namespace branchmark::cuda::ptx
