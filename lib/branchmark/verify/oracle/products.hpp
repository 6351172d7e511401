// Float64 references of the matrix products.
#pragma once

#include "branchmark/verify/host_matrix.hpp"
#include "branchmark/verify/oracle/range.hpp"

namespace branchmark::oracle {

// round(x · wᵀ) to `y_dtype`, float32 accumulation of any order allowed for by 2^-20 Σ|x · w|.
// x [rows, K], w [N, K].
Expected gemm(const HostMatrix& x, const HostMatrix& w, bmk_dtype y_dtype);

// round(y + scale · b(a x)): x [rows, K], a [rank, K], b [N, rank], y [rows, N]; one rounding to y's type,
// and 2^-20 of the sum of all terms' sizes for the float32 arithmetic inside.
Expected lora_delta(const HostMatrix& x, const HostMatrix& a, const HostMatrix& b, double scale,
                    const HostMatrix& y);

}  // namespace branchmark::oracle
