#include "branchmark/bench/stopping_rule.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "branchmark/base/statistics.hpp"

namespace branchmark {
namespace {

constexpr std::int64_t kWaitForOther = 2;

void insert_sorted(std::vector<double>& sorted, double value) {
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), value), value);
}

}  // namespace

void WarmUp::add(double time_ns, std::optional<double> clock_mhz, double cost_ns) {
  times_.push_back(time_ns);
  if (clock_mhz) clocks_.push_back(*clock_mhz);
  spent_ns_ += cost_ns;
}

bool WarmUp::steady() const {
  const auto window = options_.window;
  if (times_.size() < window) return false;
  const auto last = std::span(times_).last(window);
  const double drift = median_slope(last) * static_cast<double>(window - 1);
  if (std::abs(drift) > options_.max_drift * median(last)) return false;
  if (clocks_.size() < window) return true;
  const auto clocks = std::span(clocks_).last(window);
  const auto [lowest, highest] = std::minmax_element(clocks.begin(), clocks.end());
  return *highest - *lowest <= options_.max_clock_spread * *highest;
}

bool WarmUp::done() const {
  return steady() || times_.size() >= options_.max_samples || spent_ns_ >= options_.budget_ns;
}

void StoppingRule::add(double deciding_ns, double other_ns) {
  insert_sorted(deciding_, deciding_ns);
  insert_sorted(other_, other_ns);
}

bool StoppingRule::narrow(const std::vector<double>& sorted) const {
  const auto width = relative_half_width(sorted);
  return width && *width <= options_.target_interval;
}

Stop StoppingRule::state() const {
  const bool enough = num_samples() >= options_.min_samples;
  const bool decided = enough && narrow(deciding_);
  if (decided && (narrow(other_) || num_samples() >= kWaitForOther * options_.min_samples))
    return Stop::narrow;
  if (num_samples() >= options_.max_samples || spent_ns_ >= options_.budget_ns)
    return decided ? Stop::narrow : Stop::budget_spent;
  return Stop::go_on;
}

}  // namespace branchmark
