// Copies from global to shared memory that run beside the arithmetic (cp.async, sm_80). A thread commits
// its copies in groups and waits for groups; that makes them visible to itself only, so a barrier of the
// block follows each wait.
#pragma once

#include <cstdint>

namespace branchmark::cuda::ptx {

// 16 bytes; both addresses are multiples of 16.
__device__ __forceinline__ void cp_async_16(std::uint32_t shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(shared), "l"(global) : "memory");
}

// 16 bytes, or as many zeros where `present` is false; then nothing is read from `global`.
__device__ __forceinline__ void cp_async_16_or_zeros(std::uint32_t shared, const void* global, bool present) {
  const int bytes = present ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared), "l"(global), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

// Waits until at most kPending of the groups committed last are still running.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}

}  // namespace branchmark::cuda::ptx
