// Making a shape of a handle ready.
#pragma once

#include <span>

#include "gemm.hpp"

namespace branchmark::cuda {

// What bmk_gemm_api.prepare promises. Synchronises and allocates where the
// kind is CLASS; the others ask the library on the host only.
void prepare_shape(bmk_gemm& gemm, bmk_stream* stream, const bmk_gemm_shape& shape,
                   std::span<const std::int64_t> row_counts);

}  // namespace branchmark::cuda
