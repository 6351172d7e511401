// The cases of `profile-check`: every execution profile at every entry point. An admitted call runs, and its
// rows are compared with those of numerics `reference` with the same adapter; a refused one must leave the
// kernel module and the model untouched. What the scenario says of numerics and gdn takes no part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "branchmark/report/report.hpp"
#include "branchmark/verify/entry_points.hpp"

namespace branchmark {

// One case for each request, profile and entry point. The adapter is the scenario's, else a synthetic one of
// rank 16. Module calls are counted by Context, around whichever module runs. Throws usage for a scenario
// without prompts, and for one that merges its adapter: no profile would be left that has one.
std::vector<Case> profile_cases(const std::shared_ptr<Session>& session,
                                const std::vector<EntryPoint>& table = entry_points());

// The table of a finished run for a person: profiles by entry points.
std::string profile_text(const Report& report);

}  // namespace branchmark
