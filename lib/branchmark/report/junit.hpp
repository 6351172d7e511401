// JUnit XML for CI: one test suite a run, one test case a case. Written for the schemas that CI servers ship:
// what gave no verdict is an error, with the outcome as its type.
#pragma once

#include <string>
#include <string_view>

#include "branchmark/report/report.hpp"

namespace branchmark {

std::string junit_text(const Report& report);

// Text as XML 1.0 character data or attribute value: what XML cannot hold becomes U+FFFD.
std::string xml_escaped(std::string_view text);

}  // namespace branchmark
