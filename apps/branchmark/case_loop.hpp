// Opening a scenario's device and model and running its cases, in the calling process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "run_cases.hpp"
#include "run_events.hpp"

namespace branchmark::app {

// A session that opens no device: for listing cases.
std::shared_ptr<Session> make_listing(const CaseCommand& command, const RunOptions& options,
                                      const Scenario& scenario, const std::string& scenario_name);

// Those that --filter selects. Throws usage where that is none.
std::vector<Case> select_cases(std::vector<Case> cases, const RunOptions& options);

// Runs the selected cases from index `first` on. Throws what ends a run: device, model or scenario cannot be
// used. What a case throws becomes its record.
void run_case_loop(const CaseCommand& command, const RunOptions& options, const Scenario& scenario,
                   const std::string& scenario_name, std::int64_t first, RunEvents& events);

}  // namespace branchmark::app
