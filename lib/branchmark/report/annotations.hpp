// Findings as a CI server shows them beside the code: GitHub's workflow commands, one a line, for the log of
// the step.
#pragma once

#include <string>

#include "branchmark/report/report.hpp"

namespace branchmark {

// One command for each kind of finding (the server shows ten errors and ten warnings of a step), and an error
// or a notice with the exit line.
std::string github_annotations(const Report& report);

}  // namespace branchmark
