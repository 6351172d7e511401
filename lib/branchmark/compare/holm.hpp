// Holm's correction (1979): of many tests at 5% each, one in twenty finds a difference where there is none.
#pragma once

#include <span>
#include <vector>

namespace branchmark {

// For each probability the smallest level at which its test is still a finding when the chance that any of
// them all is a false one may not exceed that level. In the order given; equal ones stay equal, so that the
// order decides nothing.
std::vector<double> holm_adjusted(std::span<const double> probabilities);

}  // namespace branchmark
