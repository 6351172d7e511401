// What makes a comparison fail, and how it ends.
#pragma once

#include <string>
#include <vector>

#include "branchmark/compare/comparison.hpp"

namespace branchmark {

// Of the words of --fail-on: a gate's name, "changed" (outputs and counters) or "none". Throws usage for
// another one.
std::vector<Gate> gates_from(const std::vector<std::string>& words);

// Those of `asked` that the case does not pass. A newly failing case does not pass `missing`.
std::vector<Gate> gates_of(const CaseComparison& compared, const std::vector<Gate>& asked);

// 1 where a case does not pass a gate, 3 where only `inconclusive` was not passed, or where no case at all
// got a verdict, else 0. The reason names the first case of each kind.
Exit decide_exit(const Comparison& comparison);

// "37 same, 2 slower, 1 inconclusive".
std::string tally(const Comparison& comparison);
// "outputs equal 118 of 120"; empty where none were compared.
std::string outputs_text(const OutputComparison& outputs);

}  // namespace branchmark
