// Running the cases of one scenario: what `qualify` and `parity` have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "branchmark/report/exit_code.hpp"
#include "options.hpp"

namespace branchmark::app {

struct CaseCommand {
  std::string name;  // "qualify"
  // The cases of a scenario; opens the device only if the session may.
  std::function<std::vector<Case>(const std::shared_ptr<Session>&)> cases;
  // What a person reads of the report before the verdict; absent: nothing.
  std::function<std::string(const Report&)> text = {};
};

// Runs each scenario in turn, each with its own report; the result is the worst of theirs. Throws what ends a
// scenario before its first case.
Exit run_scenarios(const CaseCommand& command, const RunOptions& options,
                   const std::vector<std::string>& argv);

}  // namespace branchmark::app
