// What a run was made with and on, fact by fact, as far as it can change what is computed or how long it
// takes.
#pragma once

#include <string>
#include <vector>

#include "branchmark/report/report.hpp"

namespace branchmark {

struct RunFact {
  std::string what;
  std::string why;       // it matters
  bool refused = false;  // where it differs, times and outputs say nothing of a commit
  std::string value;
};

// In a fixed order; a run without a device has none about it but that. The commit and the environment are not
// among these.
std::vector<RunFact> run_facts(const Report& report);

}  // namespace branchmark
