// Order statistics of samples.
#pragma once

#include <span>

namespace branchmark {

// The q-quantile, 0 <= q <= 1, by linear interpolation between order statistics (type 7 of Hyndman and Fan,
// 1996). `sorted` is ascending, finite and not empty.
double quantile(std::span<const double> sorted, double q);

}  // namespace branchmark
