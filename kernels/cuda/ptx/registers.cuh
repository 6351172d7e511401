// Registers handed from the warps that copy to the warps that multiply (setmaxnreg, sm_90a): kCount for each
// thread from here on, a multiple of 8. All warps of a warp group run the same.
#pragma once

namespace branchmark::cuda::ptx {

template <int kCount>
__device__ __forceinline__ void give_up_registers() {
  static_assert(kCount % 8 == 0 && kCount >= 24 && kCount <= 256, "what the instruction takes");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kCount));
}

template <int kCount>
__device__ __forceinline__ void take_registers() {
  static_assert(kCount % 8 == 0 && kCount >= 24 && kCount <= 256, "what the instruction takes");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kCount));
}

}  // namespace branchmark::cuda::ptx
