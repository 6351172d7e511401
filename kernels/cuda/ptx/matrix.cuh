// Moving 8 × 8 matrices of bf16 between shared memory and the fragments of mma.cuh: ldmatrix (sm_75),
// movmatrix (sm_75).
//
// ldmatrix.x4 reads four 8 × 8 matrices. Lane l gives the address of the 16-byte row l % 8 of matrix l / 8;
// with g = lane / 4, t = lane % 4, register i then holds the elements (row g, columns 2t, 2t + 1) of matrix
// i, and with .trans the elements (rows 2t, 2t + 1, column g).
#pragma once

#include <cstdint>

namespace branchmark::cuda::ptx {

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void ldmatrix_x4_trans(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// The transpose of the 8 × 8 matrix of which each lane holds (row g, columns 2t, 2t + 1), in the same
// layout.
__device__ __forceinline__ std::uint32_t transpose_8x8(std::uint32_t r) {
  std::uint32_t transposed;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;\n" : "=r"(transposed) : "r"(r));
  return transposed;
}

}  // namespace branchmark::cuda::ptx
