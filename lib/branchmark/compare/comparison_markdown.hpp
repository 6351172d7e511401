// A comparison for a pull request: the verdict, then the worst rows.
#pragma once

#include <string>

#include "branchmark/compare/comparison.hpp"

namespace branchmark {

// Below 65,536 characters, which is what GitHub takes for a comment, whatever the number of cases.
std::string markdown_text(const Comparison& comparison);

}  // namespace branchmark
