// A comparison on a terminal: one screen whatever the number of cases.
#pragma once

#include <string>

#include "branchmark/compare/comparison.hpp"
#include "branchmark/report/human.hpp"

namespace branchmark {

// Several lines with a line end each, the worst rows first; cases that are the same are only counted.
std::string comparison_text(const Comparison& comparison, Colour colour);

}  // namespace branchmark
