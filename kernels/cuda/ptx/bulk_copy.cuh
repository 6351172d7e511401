// Copies of one run of memory into shared memory by the copy engine (cp.async.bulk, sm_90).
#pragma once

#include <cstdint>

namespace branchmark::cuda::ptx {

// Started by one thread; the bytes count at an mbarrier. Addresses and size are multiples of 16.
__device__ __forceinline__ void bulk_copy(std::uint32_t shared, const void* global, unsigned bytes,
                                          std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(
          shared),
      "l"(global), "r"(bytes), "r"(barrier)
      : "memory");
}

}  // namespace branchmark::cuda::ptx
