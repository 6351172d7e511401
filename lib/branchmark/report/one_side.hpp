// One side of a report of `bench --against`.
#pragma once

#include <string>
#include <string_view>

#include "branchmark/report/report.hpp"

namespace branchmark {

// The report that a run of this side alone would have given: its cases without the parameter `side`, its
// kernel module as `kernels`, and none of the comparisons. `side` is "a" or "b". A report of one build is its
// side a.
Report one_side(const Report& report, std::string_view side);

// A parameter as text; empty where the case has none of that name.
std::string parameter_text(const CaseRecord& record, std::string_view name);

}  // namespace branchmark
