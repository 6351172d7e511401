// The text for a person at a terminal. It fits a screen whatever the number of cases: counts by check,
// findings by kind, where the rest is.
#pragma once

#include <cstdint>
#include <string>

#include "branchmark/report/report.hpp"

namespace branchmark {

enum class Colour { none, ansi };

// One finished case: "[ 12/170] pass   shared_equals_fixed/... 3.2 ms", without a line end.
std::string case_line(const CaseRecord& record, std::int64_t number, std::int64_t total, Colour colour);

// Several lines with a line end each. Does not hold exit_line(): that is the last line of every command, and
// is printed where a command ends. `report_path` is where the report lies.
std::string verdict_text(const Report& report, const std::string& report_path, Colour colour);

}  // namespace branchmark
