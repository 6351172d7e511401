#include "branchmark/verify/operators/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "branchmark/base/bf16.hpp"

namespace branchmark::operators {
namespace {

// Further failures of a case are counted, not told one by one.
constexpr std::int64_t kMostFindings = 4;
// Ulps do not measure an element that float32 itself leaves uncertain by more than this: one beside zero,
// where large terms cancel or an exponential underflows.
constexpr std::int32_t kMostSpreadUlps = 4;

// "0x3f80 (1)": the stored bits and the value.
std::string shown(double value, bmk_dtype dtype) {
  const auto number = static_cast<float>(value);
  if (dtype == BMK_BF16) return fmt::format("0x{:04x} ({:.9g})", float_to_bf16(number), number);
  return fmt::format("0x{:08x} ({:.9g})", std::bit_cast<std::uint32_t>(number), number);
}

std::int32_t ulps_between(double a, double b) {
  return ulp_distance_bf16(float_to_bf16(static_cast<float>(a)), float_to_bf16(static_cast<float>(b)));
}

}  // namespace

Verdict::Verdict(CaseRecord& record, std::string subject) : record_(record), subject_(std::move(subject)) {}

void Verdict::plan(std::int64_t rows, std::int64_t columns) {
  record_.witness["rows_compared"].planned += rows;
  record_.witness["elements_compared"].planned += rows * columns;
}

void Verdict::count(std::int64_t rows, std::int64_t columns) {
  record_.witness["rows_compared"].found += rows;
  record_.witness["elements_compared"].found += rows * columns;
}

bool Verdict::same_shape(const std::string& output, std::int64_t rows, std::int64_t columns,
                         const HostMatrix& found) {
  if (found.rows == rows && found.columns == columns) return true;
  fail("shape_differs",
       fmt::format("{} is [{}, {}], expected [{}, {}]", output, found.rows, found.columns, rows, columns));
  return false;
}

void Verdict::raise_metric(const std::string& name, const char* unit, double value) {
  const auto entry = record_.metrics.find(name);
  if (entry != record_.metrics.end() && !(value > entry->second.samples[0]) && !std::isnan(value)) return;
  record_.add_metric(name, unit, Better::lower, value);
}

void Verdict::within(const std::string& output, const oracle::Expected& expected, const HostMatrix& found,
                     std::int32_t slack_ulps) {
  if (!same_shape(output, expected.rows, expected.columns, found)) return;
  count(found.rows, found.columns);
  const bool is_bf16 = found.dtype == BMK_BF16;
  std::int32_t most_ulps = 0;
  double difference = 0;
  double size = 0;
  for (std::int64_t row = 0; row < found.rows; ++row) {
    for (std::int64_t column = 0; column < found.columns; ++column) {
      const auto& range = expected.at(row, column);
      const double value = found.at(row, column);
      const bool finite = std::isfinite(value);
      if (is_bf16 && finite && ulps_between(range.low, range.high) <= kMostSpreadUlps)
        most_ulps = std::max(most_ulps, ulps_between(value, range.nominal));
      difference += (value - range.nominal) * (value - range.nominal);
      size += range.nominal * range.nominal;
      if (value >= range.low && value <= range.high) continue;
      const double end = value < range.low ? range.low : range.high;
      if (is_bf16 && finite && ulps_between(value, end) <= slack_ulps) continue;
      report("outside_tolerance",
             fmt::format("{} row {}, column {}: found {}, expected {}, allowed {} to {}", output, row, column,
                         shown(value, found.dtype), shown(range.nominal, found.dtype),
                         shown(range.low, found.dtype), shown(range.high, found.dtype)));
    }
  }
  if (is_bf16)
    raise_metric("max_ulp_bf16", "ulp", most_ulps);
  else
    raise_metric("relative_l2", "1", size > 0 ? std::sqrt(difference / size) : std::sqrt(difference));
}

double Verdict::near(const std::string& output, std::span<const double> exact, const HostMatrix& found,
                     double bound, const std::string& metric) {
  if (static_cast<std::int64_t>(exact.size()) != found.size()) {
    fail("shape_differs", fmt::format("{} has {} elements, expected {}", output, found.size(), exact.size()));
    return 0;
  }
  count(found.rows, found.columns);
  double difference = 0;
  double size = 0;
  double worst = -1;
  std::size_t worst_index = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::abs(found.values[i] - exact[i]);
    difference += error * error;
    size += exact[i] * exact[i];
    if (!(error <= worst) && !std::isnan(worst)) {
      worst = error;
      worst_index = i;
    }
  }
  const double distance = size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
  raise_metric(metric, "1", distance);
  if (!(distance <= bound)) {
    const auto columns = static_cast<std::size_t>(found.columns);
    report(
        "outside_tolerance",
        fmt::format("{}: relative L2 {:.3g}, allowed {:.3g}; largest error at row {}, column {}: found {}, "
                    "expected {}",
                    output, distance, bound, worst_index / columns, worst_index % columns,
                    shown(found.values[worst_index], found.dtype), shown(exact[worst_index], found.dtype)));
  }
  return distance;
}

void Verdict::same_bits(const std::string& output, const HostMatrix& expected, const HostMatrix& found,
                        const std::string& situation) {
  if (!same_shape(output, expected.rows, expected.columns, found)) return;
  count(found.rows, found.columns);
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(found.values[i]) == std::bit_cast<std::uint32_t>(expected.values[i]))
      continue;
    const auto columns = static_cast<std::size_t>(found.columns);
    report("bits_differ", fmt::format("{} row {}, column {}: found {}, expected {}; {}", output, i / columns,
                                      i % columns, shown(found.values[i], found.dtype),
                                      shown(expected.values[i], found.dtype), situation));
  }
}

void Verdict::report(std::string id, const std::string& message) {
  if (++failures_ <= kMostFindings)
    record_.findings.push_back({std::move(id), Severity::error, subject_ + ": " + message,
                                "the kernel module breaks its contract: do not use it on this device"});
}

void Verdict::fail(std::string id, const std::string& message, std::string suggestion) {
  ++failures_;
  record_.findings.push_back(
      {std::move(id), Severity::error, subject_ + ": " + message, std::move(suggestion)});
}

void Verdict::warn(std::string id, const std::string& message, std::string suggestion) {
  record_.findings.push_back(
      {std::move(id), Severity::warning, subject_ + ": " + message, std::move(suggestion)});
}

void Verdict::finish() {
  if (failures_ > kMostFindings)
    warn("more_failures", fmt::format("{} more failures of this case are not listed",
                                      failures_ - static_cast<std::int64_t>(record_.findings.size())));
  bool planned = false;
  for (const auto& [name, counter] : record_.witness) {
    planned = planned || counter.planned > 0;
    if (counter.found < counter.planned)
      fail("witness_short", fmt::format("{} is {}, planned {}", name, counter.found, counter.planned));
  }
  record_.outcome = failures_ > 0 ? Outcome::fail : planned ? Outcome::pass : Outcome::vacuous;
}

}  // namespace branchmark::operators
