// Comparing and digesting bf16 matrices on the device, bit by bit.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace branchmark::cuda {

// Sets *differs to 1 unless the first `rows` rows of both matrices hold the same bits; both have row stride
// `stride`. Queues only.
void compare_rows(const void* a, const void* b, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                  std::int32_t* differs, cudaStream_t stream);

// *digest += Σ mix(row · columns + column, bits), modulo 2^64: an integer sum, the same in any order. Queues
// only.
void digest_rows(const void* a, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                 std::uint64_t* digest, cudaStream_t stream);

}  // namespace branchmark::cuda
