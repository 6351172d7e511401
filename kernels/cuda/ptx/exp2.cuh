// 2^x in one instruction of the special function unit (ex2.approx, within 2 ulp), results below 2^-126 as
// zeros; -infinity gives +0, 0 gives exactly 1. For probabilities that are rounded to bf16 next; not for
// decays or gates.
#pragma once

namespace branchmark::cuda::ptx {

__device__ __forceinline__ float exp2_approximate(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace branchmark::cuda::ptx
