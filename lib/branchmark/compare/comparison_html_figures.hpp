// The pictures of a comparison's page: ratios with their intervals against the band, and the samples of both
// sides over each other.
#pragma once

#include <optional>
#include <string>

#include "branchmark/compare/comparison.hpp"
#include "branchmark/report/html/page.hpp"

namespace branchmark {

// A verdict without colour: a symbol, and the word of name_of().
std::string verdict_symbol(CaseVerdict verdict);
std::string verdict_word(CaseVerdict verdict);

// Empty where no case has times on both sides.
std::optional<html::Section> times_section(const Comparison& comparison);

}  // namespace branchmark
