// Student's distribution (1908), for what a handful of runs says of their mean.
#pragma once

#include <cstdint>

namespace branchmark {

// The probability of a value at least as far from 0 as `t`, on either side, with `degrees` >= 1 of freedom
// (Abramowitz and Stegun, 26.7.3 and 26.7.4). Exact to about 1e-15, below which it is 0.
double student_two_sided(double t, std::int64_t degrees);

// The value that is exceeded, on either side, with probability 5%.
double student_95(std::int64_t degrees);

}  // namespace branchmark
