#include "branchmark/compare/case_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "branchmark/compare/case_times.hpp"
#include "branchmark/compare/counters.hpp"
#include "branchmark/compare/outputs.hpp"
#include "branchmark/compare/time_comparison.hpp"

namespace branchmark {
namespace {

std::optional<CaseState> state_of(const SideCase* merged) {
  if (merged == nullptr) return std::nullopt;
  CaseState state;
  for (const auto* record : merged->records) {
    if (record->outcome == Outcome::pass) continue;
    state.outcome = record->outcome;
    return state;
  }
  const bool any_valid =
      std::any_of(merged->records.begin(), merged->records.end(),
                  [](const CaseRecord* record) { return record->invalid_reasons.empty(); });
  if (!any_valid) state.invalid_reasons = merged->records.front()->invalid_reasons;
  return state;
}

// What a case is where it does not count as a number; empty where it does.
std::string fault_of(const CaseState& state) {
  if (state.outcome != Outcome::pass) return std::string(name_of(state.outcome));
  std::string text;
  for (const auto& reason : state.invalid_reasons) text += (text.empty() ? "invalid: " : ", ") + reason;
  return text;
}

bool failed(const CaseState& state) {
  return state.outcome != Outcome::pass && state.outcome != Outcome::skipped;
}

void compare_counters(CaseComparison& compared, const SideCase& a, const SideCase& b) {
  const auto of_b = counters_of(b);
  for (const auto& [name, values] : counters_of(a)) {
    const auto other = of_b.find(name);
    if (other == of_b.end()) continue;
    ++compared.num_counters;
    if (values != other->second) compared.counters.push_back({name, values, other->second});
  }
}

void compare_all_times(CaseComparison& compared, const SideCase& a, const SideCase& b,
                       const CaseComparisonOptions& options) {
  auto of_b = times_of(b);
  for (auto& [metric, samples] : times_of(a)) {
    const auto other = of_b.find(metric);
    if (other == of_b.end()) continue;
    compared.times.push_back(compare_times(metric, Samples(std::move(samples)),
                                           Samples(std::move(other->second)),
                                           options.effect(compared.key, metric)));
  }
  std::stable_partition(compared.times.begin(), compared.times.end(),
                        [&](const TimeComparison& time) { return time.metric == options.first_metric; });
}

bool has_times(const SideCase& merged) {
  return std::any_of(merged.records.begin(), merged.records.end(), [](const CaseRecord* record) {
    return std::any_of(record->metrics.begin(), record->metrics.end(),
                       [](const auto& entry) { return is_compared_time(entry.first, entry.second); });
  });
}

// A case of one run, or runs, compared with themselves.
bool has_same_records(const SideCase& a, const SideCase& b) {
  const auto texts_of = [](const SideCase& merged) {
    std::multiset<std::string> texts;
    for (const auto* record : merged.records) texts.insert(to_json(*record).dump());
    return texts;
  };
  return texts_of(a) == texts_of(b);
}

// The verdict of a case of both sides that has no time to give one.
void judge_without_times(CaseComparison& compared, const SideCase& a, const SideCase& b) {
  const bool timed = has_times(a) || has_times(b);
  const bool unchanged =
      compared.a->outcome == compared.b->outcome && !compared.outputs_changed() && compared.counters.empty();
  compared.verdict = CaseVerdict::same;
  if (timed ? has_same_records(a, b) : unchanged) return;
  compared.verdict = CaseVerdict::not_comparable;
  const auto fault_a = fault_of(*compared.a);
  const auto fault_b = fault_of(*compared.b);
  if (!fault_a.empty()) compared.reason = "A: " + fault_a;
  if (!fault_b.empty()) compared.reason += (compared.reason.empty() ? "B: " : "; B: ") + fault_b;
  if (compared.reason.empty())
    compared.reason = timed ? "no time that both sides have" : "nothing was timed, and the rest changed";
}

}  // namespace

CaseComparison compare_case(const MatchedCase& matched, const CaseComparisonOptions& options) {
  CaseComparison compared;
  compared.key = matched.key;
  compared.renamed_from = matched.renamed_from;
  const auto& named = matched.b != nullptr ? *matched.b : *matched.a;
  compared.check = named.check;
  compared.parameters = named.parameters;
  compared.a = state_of(matched.a);
  compared.b = state_of(matched.b);
  if (compared.b)
    compared.newly_failing =
        (failed(*compared.b) && !(compared.a && failed(*compared.a))) ||
        (compared.b->outcome == Outcome::skipped && compared.a && compared.a->outcome == Outcome::pass);
  if (matched.a == nullptr || matched.b == nullptr) {
    compared.verdict = matched.a == nullptr ? CaseVerdict::added : CaseVerdict::missing;
    return compared;
  }
  compared.outputs = compare_outputs(*matched.a, *matched.b, options.kept);
  compare_counters(compared, *matched.a, *matched.b);
  if (fault_of(*compared.a).empty() && fault_of(*compared.b).empty())
    compare_all_times(compared, *matched.a, *matched.b, options);
  if (compared.times.empty()) judge_without_times(compared, *matched.a, *matched.b);
  return compared;
}

void conclude(CaseComparison& compared) {
  if (compared.times.empty()) return;
  const auto differs = [](const TimeComparison& time) {
    return time.verdict == CaseVerdict::slower || time.verdict == CaseVerdict::faster;
  };
  const auto found = std::find_if(compared.times.begin(), compared.times.end(), differs);
  compared.deciding =
      found == compared.times.end() ? 0 : static_cast<std::size_t>(found - compared.times.begin());
  compared.verdict = compared.times[compared.deciding].verdict;
}

}  // namespace branchmark
