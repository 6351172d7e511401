// What a person reads after `bench`: two tables and three sentences, on one screen.
#pragma once

#include <string>

#include "branchmark/report/report.hpp"

namespace branchmark {

// Several lines with a line end each; empty where the report has no timed case. A time is followed by half
// the width of its 95% interval; "!" marks what is not valid, "-" what was not measured.
std::string bench_text(const Report& report);

}  // namespace branchmark
