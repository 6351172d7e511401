// The tensor cores' warp-wide product, mma.sync.m16n8k16 (PTX ISA, "Warp Level Matrix
// Multiply-Accumulate"), sm_80 and later.
//
// With g = lane / 4 and t = lane % 4, a lane holds, two bf16 in a register with the lower column or k in
// the lower half:
//   A [16 × 16]  a[0] (row g,     k 2t, 2t + 1)      a[1] (row g + 8, k 2t, 2t + 1)
//                a[2] (row g,     k 2t + 8, 2t + 9)  a[3] (row g + 8, k 2t + 8, 2t + 9)
//   B [16 × 8]   b0 (k 2t, 2t + 1, column g)         b1 (k 2t + 8, 2t + 9, column g)
//   C [16 × 8]   c[0], c[1] (row g, columns 2t, 2t + 1)   c[2], c[3] (row g + 8, columns 2t, 2t + 1)
// So two neighbouring C, rounded, are an A whose k are C's columns; and a C is, rounded, half of a B of the
// transposed matrix. The kernels here live on both.
//
// A row of C depends on that row of A and C and on B; the hardware adds in the same order for every row.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

namespace branchmark::cuda::ptx {

// c += a · b, float32 accumulation.
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                             std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Rounds to nearest even; `low` is the element of the lower column.
__device__ __forceinline__ std::uint32_t pack_bf16(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

__device__ __forceinline__ float2 unpack_bf16(std::uint32_t pair) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xFFFF0000u)};
}

}  // namespace branchmark::cuda::ptx
