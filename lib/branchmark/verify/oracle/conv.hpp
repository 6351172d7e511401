// Float64 reference of the causal convolution, with the op's rounding points.
#pragma once

#include "branchmark/verify/host_matrix.hpp"
#include "branchmark/verify/oracle/range.hpp"

namespace branchmark::oracle {

// round(silu(round(Σ_t weight[c, t] · x[row − 3 + t, c]))) for the rows of one sequence. x [rows, channels],
// weight [channels, 4], history [3, channels], the rows before row 0, oldest first (zeros at a prompt's
// start).
Expected conv(const HostMatrix& x, const HostMatrix& weight, const HostMatrix& history);

}  // namespace branchmark::oracle
