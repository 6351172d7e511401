// A comparison as a CI server shows it beside the code: GitHub's workflow commands, one a line.
#pragma once

#include <string>

#include "branchmark/compare/comparison.hpp"

namespace branchmark {

// An error for each of the worst cases that do not pass a gate, a warning for each difference between the
// sides (of both at most nine: the server shows ten of a step), and an error or a notice with the exit line.
std::string github_annotations(const Comparison& comparison);

}  // namespace branchmark
