// The report as a page for people: what was found, in pictures and in tables with the same numbers.
#pragma once

#include <string>

#include "branchmark/report/report.hpp"

namespace branchmark {

// One HTML document without scripts that fetches nothing. Same report, same bytes.
std::string html_text(const Report& report);

}  // namespace branchmark
