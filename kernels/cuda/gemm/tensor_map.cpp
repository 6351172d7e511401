#include "tensor_map.hpp"

#include <cudaTypedefs.h>

#include <string>

#include "../error.hpp"

namespace branchmark::cuda {
namespace {

using Encode = PFN_cuTensorMapEncodeTiled_v12000;

// The driver's library is not linked, so that the module loads where there is none.
Encode find_encode() {
  constexpr const char* kName = "cuTensorMapEncodeTiled";
  constexpr unsigned kSince = 12000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  check(cudaGetDriverEntryPointByVersion(kName, &function, kSince, cudaEnableDefault, &result), kName);
  if (result != cudaDriverEntryPointSuccess || function == nullptr)
    fail(BMK_UNSUPPORTED, std::string("the driver has no ") + kName + " of CUDA 12.0");
  return reinterpret_cast<Encode>(function);
}

}  // namespace

CUtensorMap tensor_map(const TensorMatrix& matrix, int box_rows) {
  static const Encode encode = find_encode();
  constexpr cuuint32_t kRank = 2;
  constexpr cuuint64_t kElementBytes = 2;
  const cuuint64_t sizes[kRank] = {static_cast<cuuint64_t>(matrix.columns),
                                   static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t stride_bytes[kRank - 1] = {static_cast<cuuint64_t>(matrix.stride) * kElementBytes};
  const cuuint32_t box[kRank] = {kBoxColumns, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[kRank] = {1, 1};
  CUtensorMap map{};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, kRank, const_cast<void*>(matrix.data), sizes,
             stride_bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    fail(BMK_FAILED, "cuTensorMapEncodeTiled: error " + std::to_string(static_cast<int>(result)) + " for " +
                         std::to_string(matrix.rows) + " rows of " + std::to_string(matrix.columns) +
                         " columns, stride " + std::to_string(matrix.stride));
  return map;
}

}  // namespace branchmark::cuda
