#include "branchmark/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace branchmark {

bool CheckCounts::clean() const {
  std::int64_t cases = invalid;
  for (const auto count : by_outcome) cases += count;
  return of(Outcome::pass) + of(Outcome::skipped) == cases;
}

std::string CheckCounts::text() const {
  std::string text;
  const auto append = [&](std::int64_t count, std::string_view word) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  };
  append(of(Outcome::pass), "passed");
  append(of(Outcome::fail), "failed");
  for (const Outcome outcome :
       {Outcome::error, Outcome::timeout, Outcome::interrupted, Outcome::not_eligible, Outcome::vacuous})
    append(of(outcome), name_of(outcome));
  append(invalid, "invalid");
  append(of(Outcome::skipped), "skipped");
  return text;
}

std::vector<CheckCounts> count_by_check(const Report& report) {
  std::vector<CheckCounts> counts;
  for (const CaseRecord& record : report.cases) {
    auto found = std::find_if(counts.begin(), counts.end(),
                              [&](const CheckCounts& known) { return known.check == record.check; });
    if (found == counts.end()) {
      counts.push_back({record.check});
      found = counts.end() - 1;
    }
    if (record.outcome == Outcome::pass && !record.invalid_reasons.empty())
      ++found->invalid;
    else
      ++found->by_outcome[static_cast<std::size_t>(record.outcome)];
    found->duration_ns += record.duration_ns;
  }
  return counts;
}

std::vector<FindingGroup> group_findings(const Report& report) {
  std::vector<FindingGroup> groups;
  for (const CaseRecord& record : report.cases)
    for (const Finding& finding : record.findings) {
      const auto found = std::find_if(groups.begin(), groups.end(), [&](const FindingGroup& group) {
        return group.first.id == finding.id && group.first.severity == finding.severity;
      });
      if (found == groups.end())
        groups.push_back({finding, record.key(), 1});
      else
        ++found->count;
    }
  std::stable_sort(groups.begin(), groups.end(), [](const FindingGroup& a, const FindingGroup& b) {
    return a.first.severity < b.first.severity;
  });
  return groups;
}

std::string title_of(const Report& report) {
  return report.scenario ? fmt::format("{} {}", report.command, report.scenario->name) : report.command;
}

std::string device_text(const Report& report) {
  if (!report.device) return "no device opened";
  return report.device->architecture
             ? fmt::format("{} ({})", report.device->name, *report.device->architecture)
             : report.device->name;
}

}  // namespace branchmark
