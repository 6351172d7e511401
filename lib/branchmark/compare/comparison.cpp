#include "branchmark/compare/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace branchmark {
namespace {

constexpr std::array<std::string_view, kNumCaseVerdicts> kVerdicts = {
    "slower", "missing", "not_comparable", "inconclusive", "new", "faster", "same"};
constexpr std::array<std::string_view, 6> kGates = {"slower",  "outputs", "counters",
                                                    "missing", "new",     "inconclusive"};

double distance(const CaseComparison& row) {
  const auto* time = row.deciding_time();
  return time == nullptr ? 0 : std::abs(time->log_ratio);
}

}  // namespace

std::string_view name_of(CaseVerdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

std::string_view name_of(Gate gate) {
  return kGates[static_cast<std::size_t>(gate)];
}

CaseVerdict flipped(CaseVerdict verdict) {
  switch (verdict) {
    case CaseVerdict::slower:
      return CaseVerdict::faster;
    case CaseVerdict::faster:
      return CaseVerdict::slower;
    case CaseVerdict::missing:
      return CaseVerdict::added;
    case CaseVerdict::added:
      return CaseVerdict::missing;
    case CaseVerdict::not_comparable:
    case CaseVerdict::inconclusive:
    case CaseVerdict::same:
      break;
  }
  return verdict;
}

double TimeComparison::ratio() const {
  return std::exp(log_ratio);
}

std::optional<Interval> TimeComparison::interval() const {
  if (!log_interval) return std::nullopt;
  return Interval{std::exp(log_interval->low), std::exp(log_interval->high)};
}

std::int64_t Comparison::count(CaseVerdict verdict) const {
  return std::count_if(cases.begin(), cases.end(),
                       [&](const CaseComparison& row) { return row.verdict == verdict; });
}

std::int64_t Comparison::count(Gate gate) const {
  return std::count_if(cases.begin(), cases.end(), [&](const CaseComparison& row) {
    return std::find(row.gates.begin(), row.gates.end(), gate) != row.gates.end();
  });
}

OutputComparison Comparison::outputs() const {
  OutputComparison sum;
  for (const auto& row : cases) {
    if (!row.outputs) continue;
    sum.num_prompts += row.outputs->num_prompts;
    sum.num_equal += row.outputs->num_equal;
    sum.a_unstable = sum.a_unstable || row.outputs->a_unstable;
    sum.b_unstable = sum.b_unstable || row.outputs->b_unstable;
  }
  return sum;
}

std::vector<const CaseComparison*> Comparison::worst_first() const {
  std::vector<const CaseComparison*> rows;
  for (const auto& row : cases) rows.push_back(&row);
  const auto place = [](const CaseComparison* row) {
    return std::tuple(row->gates.empty(), row->verdict, -distance(*row));
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const CaseComparison* x, const CaseComparison* y) { return place(x) < place(y); });
  return rows;
}

}  // namespace branchmark
