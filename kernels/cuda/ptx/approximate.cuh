// Functions of the special function unit, one instruction each, for what is rounded to bf16 next; not for
// decays or the gates of the delta rule. The instruction is named, so that the result does not hang on
// compiler flags.
#pragma once

namespace branchmark::cuda::ptx {

// 2^x (ex2.approx, within 2 ulp), results below 2^-126 as zeros; -infinity gives +0, 0 gives exactly 1.
__device__ __forceinline__ float exp2_approximate(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(result) : "f"(x));
  return result;
}

// 1 / x (rcp.approx, within 1 ulp); infinity gives 0.
__device__ __forceinline__ float reciprocal_approximate(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;\n" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace branchmark::cuda::ptx
