// The command that settles what a comparison left open.
#pragma once

#include <string>

#include "branchmark/compare/comparison.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark {

// Repeats one case of the run `report` with as many samples as are needed, or says what else would help where
// no reasonable number is enough. Only for a time that is inconclusive.
std::string settle_suggestion(const Report& report, const CaseComparison& compared,
                              const TimeComparison& time);

// Repeats one case of the run `report`, which kept no outputs or whose other side did not, keeping them.
std::string keep_suggestion(const Report& report, const CaseComparison& compared);

}  // namespace branchmark
