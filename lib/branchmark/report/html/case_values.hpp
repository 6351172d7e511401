// What the pictures and tables take from the records of cases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "branchmark/base/statistics.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark::html {

struct Estimate {
  double median = 0;
  std::optional<Interval> interval;  // 95%, of the median
  std::vector<double> sorted;        // the samples
  bool derived = false;

  std::optional<double> relative_half_width() const { return branchmark::relative_half_width(sorted); }
};

// Of a metric that the case has, with a sample and none that is not finite.
std::optional<Estimate> estimate_of(const CaseRecord& record, const std::string& metric);
std::optional<double> median_of(const CaseRecord& record, const std::string& metric);

// A parameter that is a number; empty where the case has none of that name.
std::optional<double> parameter_number(const CaseRecord& record, std::string_view name);

// Passed and valid: its numbers count.
bool is_usable(const CaseRecord& record);

using Cases = std::vector<const CaseRecord*>;
// The cases of a check that have samples of the metric, in the report's order.
Cases cases_with(const Report& report, std::string_view check, const std::string& metric);

// "device_ns" where the report is of a device that has a time of its own, else "wall_ns".
std::string deciding_time(const Report& report);

// What names a case.
struct CaseName {
  std::string check;
  const Parameters* parameters = nullptr;
};
// "tokens 64 · class", for each of the cases: without the parameters that tell none of them from another, and
// with the check where that is needed. The key in full belongs beside it.
std::vector<std::string> short_labels(const std::vector<CaseName>& names);
std::vector<std::string> short_labels(const Cases& cases);

// Worst first: by outcome, then validity, then how wide the interval of `metric` is; equal ones in the
// report's order.
Cases worst_first(Cases cases, const std::string& metric);

// "12.3 ms ±0.5%", with the interval in full as the second: "95% interval 12.2 ms to 12.4 ms of 30 samples".
std::string time_with_width(const Estimate& time);
std::string interval_text(const Estimate& time);

}  // namespace branchmark::html
