// A case: the unit that a run selects, times, records and reports.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "branchmark/report/case_record.hpp"

namespace branchmark {

// `run` fills outcome, metrics, witness, digests and findings; it throws Error where the case could not be
// carried out, which the runner turns into an outcome. It is not called where skip_reason is set.
struct Case {
  std::string check;
  Parameters parameters;
  std::string skip_reason;  // empty, or one of the closed list: "graph_unsupported", ...
  std::function<void(CaseRecord&)> run;
  // Asked right before it runs: how long that will take. Absent: about as long as the others.
  std::function<double()> planned_s = {};

  std::string key() const { return case_key(check, parameters); }
};

}  // namespace branchmark
