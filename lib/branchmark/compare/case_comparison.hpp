// One case of both sides: its times, its outputs, its counters.
#pragma once

#include <functional>
#include <string>

#include "branchmark/compare/comparison.hpp"
#include "branchmark/compare/matching.hpp"
#include "branchmark/compare/outputs.hpp"

namespace branchmark {

struct CaseComparisonOptions {
  // The smallest effect that counts for a time of a case.
  std::function<double(const std::string& key, const std::string& metric)> effect;
  // The metric whose verdict is the case's where several have one.
  std::string first_metric;
  KeptOfSides kept;
};

// Everything but verdicts, which need the other cases' tests too.
CaseComparison compare_case(const MatchedCase& matched, const CaseComparisonOptions& options);

// The case's verdict from those of its times: the first metric's; where that finds no difference, another's
// that does.
void conclude(CaseComparison& compared);

}  // namespace branchmark
