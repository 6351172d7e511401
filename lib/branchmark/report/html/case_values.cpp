#include "branchmark/report/html/case_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "branchmark/report/html/number_text.hpp"

namespace branchmark::html {
namespace {

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// A word stands by itself; a number, "on" or "off" needs the name of what it is.
std::string part_text(const std::string& name, const nlohmann::json& value) {
  auto text = text_of(value);
  if (!value.is_string() || text == "on" || text == "off") text = name + " " + text;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string label_without(const std::set<std::string>& left_out, const CaseName& name) {
  std::string label;
  for (const auto& [parameter, value] : *name.parameters)
    if (!left_out.contains(parameter))
      label += (label.empty() ? "" : " \u00b7 ") + part_text(parameter, value);
  return label;
}

std::size_t num_distinct(const std::set<std::string>& left_out, const std::vector<CaseName>& names) {
  std::set<std::string> labels;
  for (const auto& name : names) labels.insert(label_without(left_out, name));
  return labels.size();
}

// Parameters without which the cases of one check are told apart as well, the last ones first.
std::set<std::string> not_needed(const std::vector<CaseName>& names) {
  std::vector<std::string> parameters;
  for (const auto& name : names)
    for (const auto& [parameter, value] : *name.parameters)
      if (std::find(parameters.begin(), parameters.end(), parameter) == parameters.end())
        parameters.push_back(parameter);
  std::set<std::string> left_out;
  const auto wanted = num_distinct(left_out, names);
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    left_out.insert(*parameter);
    if (num_distinct(left_out, names) < wanted) left_out.erase(*parameter);
  }
  return left_out;
}

// By Outcome's order: pass, fail, error, skipped, not_eligible, vacuous, timeout, interrupted.
int rank_of(const CaseRecord& record) {
  constexpr std::array<int, 8> kRanks = {7, 0, 1, 8, 3, 4, 2, 5};
  if (record.outcome == Outcome::pass && !record.invalid_reasons.empty()) return 6;
  return kRanks.at(static_cast<std::size_t>(record.outcome));
}

}  // namespace

std::optional<Estimate> estimate_of(const CaseRecord& record, const std::string& metric) {
  const auto found = record.metrics.find(metric);
  if (found == record.metrics.end() || found->second.samples.empty()) return std::nullopt;
  Estimate estimate;
  estimate.sorted = found->second.samples;
  estimate.derived = found->second.derived;
  if (!std::all_of(estimate.sorted.begin(), estimate.sorted.end(), [](double x) { return std::isfinite(x); }))
    return std::nullopt;
  std::sort(estimate.sorted.begin(), estimate.sorted.end());
  estimate.median = quantile(estimate.sorted, 0.5);
  estimate.interval = median_interval(estimate.sorted);
  return estimate;
}

std::optional<double> median_of(const CaseRecord& record, const std::string& metric) {
  const auto estimate = estimate_of(record, metric);
  return estimate ? std::optional(estimate->median) : std::nullopt;
}

std::optional<double> parameter_number(const CaseRecord& record, std::string_view name) {
  for (const auto& [key, value] : record.parameters)
    if (key == name && value.is_number()) return value.get<double>();
  return std::nullopt;
}

bool is_usable(const CaseRecord& record) {
  return record.outcome == Outcome::pass && record.invalid_reasons.empty();
}

Cases cases_with(const Report& report, std::string_view check, const std::string& metric) {
  Cases cases;
  for (const auto& record : report.cases)
    if (record.check == check && estimate_of(record, metric)) cases.push_back(&record);
  return cases;
}

std::string deciding_time(const Report& report) {
  return report.device && report.device->is_cpu ? "wall_ns" : "device_ns";
}

std::vector<std::string> short_labels(const std::vector<CaseName>& names) {
  std::map<std::string, std::vector<CaseName>> by_check;
  for (const auto& name : names) by_check[name.check].push_back(name);
  std::map<std::string, std::set<std::string>> left_out;
  for (const auto& [check, same] : by_check) left_out[check] = not_needed(same);
  std::vector<std::string> labels;
  for (const auto& name : names) labels.push_back(label_without(left_out[name.check], name));
  // The check too where a label alone does not say which case it is, as where it is empty.
  const std::set<std::string> distinct(labels.begin(), labels.end());
  if (distinct.size() < labels.size() || distinct.contains(""))
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = names[i].check + (labels[i].empty() ? "" : " \u00b7 " + labels[i]);
  return labels;
}

std::vector<std::string> short_labels(const Cases& cases) {
  std::vector<CaseName> names;
  for (const auto* record : cases) names.push_back({record->check, &record->parameters});
  return short_labels(names);
}

Cases worst_first(Cases cases, const std::string& metric) {
  std::vector<std::tuple<int, double, const CaseRecord*>> ranked;
  for (const auto* record : cases) {
    const auto estimate = estimate_of(*record, metric);
    const auto width = estimate ? estimate->relative_half_width() : std::nullopt;
    ranked.emplace_back(rank_of(*record), -width.value_or(0), record);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& one, const auto& other) {
    return std::tie(std::get<0>(one), std::get<1>(one)) < std::tie(std::get<0>(other), std::get<1>(other));
  });
  std::transform(ranked.begin(), ranked.end(), cases.begin(),
                 [](const auto& entry) { return std::get<2>(entry); });
  return cases;
}

std::string time_with_width(const Estimate& time) {
  const auto width = time.relative_half_width();
  return time_text(time.median) + (width ? " \u00b1" + percent_text(*width) : "");
}

std::string interval_text(const Estimate& time) {
  const auto count = fmt::format("{} {}", time.sorted.size(), time.sorted.size() == 1 ? "sample" : "samples");
  return time.interval ? fmt::format("95% interval {} to {} of {}", time_text(time.interval->low),
                                     time_text(time.interval->high), count)
                       : count + ", too few for an interval";
}

}  // namespace branchmark::html
