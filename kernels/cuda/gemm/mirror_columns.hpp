// Data whose products cancel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace branchmark::cuda {

// Whether the copy of a half has its values' signs turned.
enum class MirrorSign { kSame, kTurned };

// Writes the first half of the columns of each row of a bf16 matrix over the second half; an odd last column
// stays. Queues only.
void mirror_columns(void* data, std::int64_t rows, std::int64_t columns, std::int64_t stride, MirrorSign sign,
                    cudaStream_t stream);

}  // namespace branchmark::cuda
