#include "branchmark/verify/run_case.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "branchmark/report/exit_code.hpp"

namespace branchmark {
namespace {

// The witness without which a check says nothing, however many of its cases pass.
struct EssentialWitness {
  std::string_view check;
  std::string_view counter;
  std::string_view meaning;
};
constexpr EssentialWitness kEssential[] = {
    {"operators", "elements_compared", "no element was compared"},
    {"gemm_rows", "rows_compared", "no row was compared"},
    {"continuation", "states_resumed", "no state was continued"},
    {"shared_equals_fixed", "states_captured", "no prefix of 64 tokens or more was shared"},
    {"packed_equals_per_branch", "states_captured", "no prefix of 64 tokens or more was shared"},
    {"batch_equals_alone", "prompts_compared", "no prompt was compared"},
    {"graph_equals_eager", "captures_and_replays", "no graph was captured or replayed"},
    {"repeated", "prompts_compared", "no prompt was compared"},
    {"reordered", "prompts_compared", "no prompt was compared"},
    {"interleaved", "prompts_compared", "no prompt was compared"},
    {"grown", "scratch_growths", "scratch memory never grew"},
    {"recovery", "requests_refused", "nothing was refused"},
    {"isolation", "siblings_compared", "no branch had a sibling"},
    {"refusals", "requests_refused", "nothing was refused"},
    {"profiles", "entry_points_refused", "nothing was refused"},
    {"reference", "rows_compared", "no row was compared"},
    {"parity", "rows_compared", "no row was compared"},
    {"profile", "entry_points_tried", "no entry point was tried"},
};

}  // namespace

CaseRecord run_case(const Case& to_run) {
  CaseRecord record;
  record.check = to_run.check;
  record.parameters = to_run.parameters;
  if (!to_run.skip_reason.empty()) {
    record.outcome = Outcome::skipped;
    record.skip_reason = to_run.skip_reason;
    return record;
  }
  const auto begin = std::chrono::steady_clock::now();
  try {
    to_run.run(record);
  } catch (const std::exception& error) {
    add_error(record, error);
  }
  record.duration_ns =
      static_cast<double>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  return record;
}

std::vector<std::string> vacuous_checks(const std::vector<CaseRecord>& records) {
  std::map<std::string, std::int64_t> planned;
  for (const auto& essential : kEssential)
    for (const auto& record : records) {
      if (record.check != essential.check || record.outcome == Outcome::skipped) continue;
      const auto counter = record.witness.find(std::string(essential.counter));
      planned[record.check] += counter == record.witness.end() ? 0 : counter->second.planned;
      // What failed or could not run is reported as that.
      if (record.outcome != Outcome::pass) planned[record.check] += 1;
    }
  std::vector<std::string> reasons;
  for (const auto& essential : kEssential)
    if (const auto found = planned.find(std::string(essential.check));
        found != planned.end() && found->second == 0)
      reasons.push_back(fmt::format("check {} is vacuous: {}", essential.check, essential.meaning));
  return reasons;
}

}  // namespace branchmark
