// The times of a case that are compared.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "branchmark/compare/side.hpp"

namespace branchmark {

// Times of whole calls. Stages are parts of them, from a few instrumented calls, and derived differences of
// such parts; the warm-up's times have no better direction.
bool is_compared_time(std::string_view name, const Metric& metric);

// Passed and valid: its numbers count.
bool is_usable(const CaseRecord& record);

// By metric: the finite samples above 0 of each usable record that has any.
std::map<std::string, std::vector<std::vector<double>>> times_of(const SideCase& merged);

}  // namespace branchmark
