// A comparison as a page for people: ratios against the band, the samples of both sides, and the same numbers
// in tables, worst rows first.
#pragma once

#include <string>

#include "branchmark/compare/comparison.hpp"

namespace branchmark {

// One HTML document without scripts that fetches nothing. Same comparison, same bytes.
std::string html_text(const Comparison& comparison);

}  // namespace branchmark
