// Copies of boxes of a matrix into shared memory by the tensor copy engine (cp.async.bulk.tensor, sm_90). One
// thread starts a copy; the bytes of the whole box, what lies outside of the matrix included, count at an
// mbarrier.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace branchmark::cuda::ptx {

// The box whose first element is (row, column). `map` is a __grid_constant__ parameter of the kernel; the
// place in shared memory has the alignment that the map's swizzle wants.
__device__ __forceinline__ void tensor_copy(std::uint32_t shared, const CUtensorMap* map, int column, int row,
                                            std::uint32_t barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1, {%2, %3}], [%4], %5;\n" ::"r"(shared),
      "l"(map), "r"(column), "r"(row), "r"(barrier), "l"(policy)
      : "memory");
}

// To the same place in each block of the cluster whose bit is set, counted at the barrier of the same place
// there.
__device__ __forceinline__ void tensor_copy_multicast(std::uint32_t shared, const CUtensorMap* map,
                                                      int column, int row, std::uint32_t barrier,
                                                      std::uint16_t blocks, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;\n" ::"r"(shared),
      "l"(map), "r"(column), "r"(row), "r"(barrier), "h"(blocks), "l"(policy)
      : "memory");
}

__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];\n" ::"l"(map) : "memory");
}

}  // namespace branchmark::cuda::ptx
