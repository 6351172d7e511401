// What a person reads after `bench --against`: are the outputs the same, and who is faster.
#pragma once

#include <string>

#include "branchmark/report/report.hpp"

namespace branchmark {

// Lines with a line end each; empty for a report of one build.
std::string against_text(const Report& report);

}  // namespace branchmark
