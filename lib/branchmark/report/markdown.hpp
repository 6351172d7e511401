// The report for a pull request or an issue: verdict first, then counts, findings, and what it ran on.
#pragma once

#include <string>

#include "branchmark/report/report.hpp"

namespace branchmark {

std::string markdown_text(const Report& report);

}  // namespace branchmark
