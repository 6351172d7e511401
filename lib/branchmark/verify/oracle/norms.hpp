// Float64 references of the norms, with the ops' rounding points.
#pragma once

#include "branchmark/verify/host_matrix.hpp"
#include "branchmark/verify/oracle/range.hpp"

namespace branchmark::oracle {

// 1 / sqrt(mean of squares of columns [first, first + count) + eps).
double inverse_rms(const HostMatrix& x, std::int64_t row, std::int64_t first, std::int64_t count, double eps);

// round(x · rsqrt(mean(x²) + eps) · (1 + weight)): x [rows, n], weight [1, n].
Expected rms_norm(const HostMatrix& x, const HostMatrix& weight, double eps);

// Per head of 128: n = round(o · rsqrt(mean(o²) + eps)); m = round(weight · n); round(m · silu(z)).
// o and z [rows, heads · 128], weight [1, 128]. Three roundings: a flip of the first moves the second by up
// to 2 ulps (an ulp is 2^-8 to 2^-7 of its value) and the third by up to 4; the ranges say for which
// elements.
Expected gated_rms_norm(const HostMatrix& o, const HostMatrix& z, const HostMatrix& weight, double eps);

}  // namespace branchmark::oracle
