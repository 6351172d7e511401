#include "branchmark/compare/case_times.hpp"

#include <cmath>

namespace branchmark {

bool is_compared_time(std::string_view name, const Metric& metric) {
  return metric.unit == "ns" && metric.better == Better::lower && !name.starts_with("stage_");
}

bool is_usable(const CaseRecord& record) {
  return record.outcome == Outcome::pass && record.invalid_reasons.empty();
}

std::map<std::string, std::vector<std::vector<double>>> times_of(const SideCase& merged) {
  std::map<std::string, std::vector<std::vector<double>>> times;
  for (const auto* record : merged.records) {
    if (!is_usable(*record)) continue;
    for (const auto& [name, metric] : record->metrics) {
      if (!is_compared_time(name, metric)) continue;
      auto samples = metric.samples;
      std::erase_if(samples, [](double sample) { return !(std::isfinite(sample) && sample > 0); });
      if (!samples.empty()) times[name].push_back(std::move(samples));
    }
  }
  return times;
}

}  // namespace branchmark
