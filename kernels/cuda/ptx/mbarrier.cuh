// Barriers in shared memory that count threads and bytes (mbarrier), and the barrier of a cluster; sm_90.
//
// A barrier's phases alternate in parity, the first is 0. A phase ends when all its arrivals and all the
// bytes that were announced are in. Waiting for parity p returns when the phase of that parity is over; on a
// new barrier, waiting for 1 returns at once. Addresses are those of matrix.cuh's shared_address.
//
// Arrivals and waits order memory for the block, the default, also where they cross a cluster: what they hand
// over is written by the copy engine and read by the tensor cores, which the barrier itself and wgmma_wait
// order. Of the scope of a cluster each arrival would be a fence of the whole GPU (MEMBAR.ALL.GPU in the
// machine code) and each wait would empty the L1 cache (CCTL.IVALL).
#pragma once

#include <cstdint>

namespace branchmark::cuda::ptx {

__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the cluster and to the copy engine, after the next cluster barrier.
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}

// One arrival.
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}

// One arrival, at the time when all copies by cp.async that the thread has queued are done.
__device__ __forceinline__ void mbarrier_arrive_after_copies(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];\n" ::"r"(barrier) : "memory");
}

// One arrival, and an announcement of bytes that copies will bring in this phase.
__device__ __forceinline__ void mbarrier_arrive_expect(std::uint32_t barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// One arrival at the barrier of the same place in block `rank` of the cluster, its own included.
__device__ __forceinline__ void mbarrier_arrive_at(std::uint32_t barrier, unsigned rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}\n" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

__device__ __forceinline__ bool mbarrier_try_wait(std::uint32_t barrier, unsigned parity) {
  std::uint32_t is_over;
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
      "selp.u32 %0, 1, 0, over;\n"
      "}\n"
      : "=r"(is_over)
      : "r"(barrier), "r"(parity)
      : "memory");
  return is_over != 0;
}

__device__ __forceinline__ void mbarrier_wait(std::uint32_t barrier, unsigned parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

// Every thread of every block of the cluster; a launch without clusters has clusters of one block. Of what
// was written before, it orders what mbarrier_init_fence follows and no more.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile(
      "barrier.cluster.arrive.relaxed.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;\n" ::
          : "memory");
}

// kThreads threads, whole warps, of the block; `kName` of 1 to 15 tells it from __syncthreads, which is 0.
template <int kName, int kThreads>
__device__ __forceinline__ void named_barrier() {
  static_assert(kName > 0 && kName < 16, "a block has sixteen such barriers");
  asm volatile("barrier.sync.aligned %0, %1;\n" ::"n"(kName), "n"(kThreads) : "memory");
}

// Orders the thread's ordinary writes to shared memory before what the tensor cores and the copy engine do
// there after the next barrier.
__device__ __forceinline__ void async_proxy_fence() {
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
}

}  // namespace branchmark::cuda::ptx
