// Counters that two runs of the same code give exactly: launches, bytes, allocations, captures, passes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "branchmark/compare/side.hpp"

namespace branchmark {

// By name: the distinct values in the records that passed, ascending. Counters of a witness as
// "witness.NAME". Left out is what depends on the number of samples, and what counts evidence instead of
// work.
std::map<std::string, std::vector<double>> counters_of(const SideCase& merged);

}  // namespace branchmark
