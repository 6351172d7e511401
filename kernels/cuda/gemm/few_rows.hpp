// The module's own kernels for products of few rows: launching what tuning/few_rows.hpp describes.
//
// Each output is one chain of the tensor cores' products of 16 columns of K, in ascending order, onto a
// float32 sum that begins at zero; it is rounded once. Whether that gives the bits of the vendor's library is
// for the proof of the class to find out. A row of y depends on its row of x and on w alone: the rows of a
// tile are rows of the tensor cores' operands, which never mix, and rows past the end are zeros there and not
// stored.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "../device.hpp"
#include "../tuning/few_rows.hpp"

namespace branchmark::cuda {

// y[rows, n] = x[rows, k] · w[n, k]ᵀ in bf16, with the shape's strides; all data 16-byte aligned.
struct FewRowsProduct {
  const bmk_gemm_shape& shape;
  std::int64_t rows;
  const void* x;
  const void* w;
  void* y;
};

// The kernels that this build has for the device and y of so many columns.
std::vector<FewRowsSettings> few_rows_kernels(const bmk_device& device, std::int64_t columns);

// Queues the product, of a number of rows that the kernel serves. Allocates nothing.
void few_rows_multiply(const FewRowsSettings& settings, const FewRowsProduct& product, cudaStream_t stream);

// The two families' launchers.
void few_rows_wgmma(const FewRowsSettings& settings, const FewRowsProduct& product, cudaStream_t stream);
void few_rows_mma(const FewRowsSettings& settings, const FewRowsProduct& product, cudaStream_t stream);

}  // namespace branchmark::cuda
