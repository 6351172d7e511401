#include "branchmark/bench/against.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/bench/samples.hpp"
#include "branchmark/verify/checks/checks.hpp"

namespace branchmark {
namespace {

// Sample i of one side was taken beside sample i of the other.
std::vector<double> paired_ratios(const Series& a, const Series& b, SampleTime time) {
  std::vector<double> ratios;
  const auto pairs = std::min(a.samples.size(), b.samples.size());
  for (std::size_t i = 0; i < pairs; ++i)
    if (a.samples[i].tag.empty() && b.samples[i].tag.empty() && a.samples[i].*time > 0)
      ratios.push_back(b.samples[i].*time / a.samples[i].*time);
  return ratios;
}

void compare_outputs(CaseRecord& record, const SideResult& a, const SideResult& b) {
  const auto outputs = std::max(a.digests.size(), b.digests.size());
  const auto compared = std::min(a.digests.size(), b.digests.size());
  std::size_t same = 0;
  for (std::size_t i = 0; i < compared; ++i) same += a.digests[i] == b.digests[i] ? 1 : 0;
  witness(record, "outputs_compared", static_cast<std::int64_t>(outputs),
          static_cast<std::int64_t>(compared));
  record.add_metric("changed_outputs", "1", Better::lower, static_cast<double>(outputs - same));
  if (same == outputs) return;
  record.findings.push_back(
      {.id = "outputs_changed",
       .severity = Severity::error,
       .message =
           fmt::format("{} of {} outputs have other bits on side b than on side a", outputs - same, outputs),
       .suggestion = "where that is not meant, find the op with --ops; where it is, qualify the new build"});
}

}  // namespace

void record_against(CaseRecord& record, const SideResult& a, const SideResult& b, bool is_cpu) {
  compare_outputs(record, a, b);
  const auto add = [&](const std::string& name, SampleTime time) {
    record.metrics[name] = {.unit = "1",
                            .better = Better::lower,
                            .samples = paired_ratios(*a.series, *b.series, time),
                            .derived = true};
  };
  add("wall_ratio", wall_time(is_cpu));
  add("device_ratio", device_time(is_cpu));
  settle(record);
  for (const auto* side : {&a, &b})
    for (const auto& reason : side->invalid_reasons)
      if (std::find(record.invalid_reasons.begin(), record.invalid_reasons.end(), reason) ==
          record.invalid_reasons.end())
        record.invalid_reasons.push_back(reason);
  if (!record.invalid_reasons.empty())
    record.findings.push_back({.id = "side_invalid",
                               .severity = Severity::warning,
                               .message = "a side of this comparison is invalid",
                               .suggestion = "look at the findings of the same case with side=a and side=b"});
}

}  // namespace branchmark
