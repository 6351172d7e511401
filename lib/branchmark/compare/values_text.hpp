// Numbers of a comparison as people read them.
#pragma once

#include <string>

#include "branchmark/compare/comparison.hpp"

namespace branchmark {

// "1.051 [1.043, 1.060]", without the interval where there is none.
std::string ratio_text(const TimeComparison& time);
// "same, changed": the verdict, and whether outputs or counters changed.
std::string verdict_text(const CaseComparison& row);
// "12.34", in milliseconds, with four digits.
std::string milliseconds_text(double ns);
// "op_launches 150 to 151".
std::string counter_text(const CounterChange& change);
// "relative_l2 0.00123, at most 2 ulp of bf16, 12 of 256 elements differ", and of how many outputs where
// there are several.
std::string distance_text(const OutputDistance& distance);
// "bench-9b 7aaae20, with changes, NVIDIA H200", and how many runs where there are several.
std::string side_text(const std::vector<ComparedRun>& runs);
// Why the case has its verdict, or what else is to be said of it; empty where nothing is.
std::string remark_text(const CaseComparison& row);

}  // namespace branchmark
