#include "branchmark/bench/stopping_rule.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "branchmark/base/statistics.hpp"

namespace branchmark {

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

void StoppingRule::add(double deciding_ns) {
  deciding_.insert(std::upper_bound(deciding_.begin(), deciding_.end(), deciding_ns), deciding_ns);
}

Stop StoppingRule::state() const {
  const auto width = relative_half_width(deciding_);
  if (num_samples() >= options_.min_samples && width && *width <= options_.target_interval)
    return Stop::narrow;
  if (num_samples() >= options_.max_samples || spent_ns_ >= options_.budget_ns) return Stop::budget_spent;
  return Stop::go_on;
}

}  // namespace branchmark
