// What a person reads after `bench --ops`.
#pragma once

#include <string>

#include "branchmark/report/report.hpp"

namespace branchmark {

// A line for each op, of the case with the longest time; the others are in the report. Empty where the report
// has no op.
std::string ops_text(const Report& report);

}  // namespace branchmark
