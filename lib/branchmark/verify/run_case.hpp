// The one place where a case becomes a record.
#pragma once

#include <string>
#include <vector>

#include "branchmark/verify/case.hpp"

namespace branchmark {

// Runs a case: fills parameters and duration, and turns an exception into its outcome and a finding.
CaseRecord run_case(const Case& to_run);

// Checks that planned nothing of their kind in any case that ran (no case captured a state, no row was
// compared): what they report proves nothing. One line each, for a person.
std::vector<std::string> vacuous_checks(const std::vector<CaseRecord>& records);

}  // namespace branchmark
