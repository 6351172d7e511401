// Float64 references of the elementwise ops, with the ops' rounding points.
#pragma once

#include "branchmark/verify/host_matrix.hpp"
#include "branchmark/verify/oracle/range.hpp"

namespace branchmark::oracle {

// round(round(silu(gate)) · up).
Expected silu_mul(const HostMatrix& gate, const HostMatrix& up);

// round(sigmoid(b)), the rounding that of b's type.
Expected gdn_beta(const HostMatrix& b);

// −exp(a_log) · softplus(a + dt_bias), softplus(x) = x above 20, else log1p(e^x); a_log and dt_bias [1,
// heads]. Never rounded to bf16. The float32 sum a + dt_bias carries an absolute error of 2^-24 of its size,
// which softplus turns into a relative one where e^x is small.
Expected gdn_decay(const HostMatrix& a, const HostMatrix& a_log, const HostMatrix& dt_bias);

}  // namespace branchmark::oracle
