// Descriptions of bf16 matrices for the tensor copy engine of sm_90.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace branchmark::cuda {

// Columns of a box: 128 bytes, the row that the swizzle of 128 bytes permutes.
inline constexpr int kBoxColumns = 64;

struct TensorMatrix {
  const void* data;  // 16-byte aligned
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;  // elements, a multiple of 8
};

// A map by which a copy brings boxes of `box_rows` × kBoxColumns elements into shared memory, each row 128
// bytes, with the 16-byte piece p of row r at piece p ^ (r mod 8). What lies outside of the matrix comes as
// zeros. The driver computes it on the host; nothing is allocated or queued.
CUtensorMap tensor_map(const TensorMatrix& matrix, int box_rows);

}  // namespace branchmark::cuda
