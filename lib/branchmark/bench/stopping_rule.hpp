// When a case has been warmed up, and when it has been sampled enough: two objects that see one sample after
// another and are asked. They know no clock and no device, so that they can be tested on made-up samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace branchmark {

// Warm-up ends when over the last samples the time has stopped to drift and the clock stands, or at a cap: a
// case on a noisy host has no flat stretch, and its interval will say so.
struct WarmUpOptions {
  std::size_t window = 5;          // samples that must be flat
  std::size_t max_samples = 25;    // the cap in samples
  double max_drift = 0.02;         // over the window, as a share of its median
  double max_clock_spread = 0.02;  // over the window, as a share of the highest clock
  double budget_ns = 5e9;          // the cap in time
};

class WarmUp {
 public:
  explicit WarmUp(const WarmUpOptions& options) : options_(options) {}

  // One call's time, the device's clock in it where there is one, and what the sample cost in all.
  void add(double time_ns, std::optional<double> clock_mhz, double cost_ns);
  bool done() const;
  // Done for being steady, not for a cap.
  bool steady() const;

 private:
  WarmUpOptions options_;
  std::vector<double> times_;
  std::vector<double> clocks_;
  double spent_ns_ = 0;
};

struct StoppingOptions {
  double target_interval = 0.01;  // half-width of the median's 95% interval, as a share of it
  std::int64_t min_samples = 10;
  std::int64_t max_samples = 10000;
  double budget_ns = 30e9;
};

enum class Stop {
  go_on,
  narrow,        // the deciding time's interval is as narrow as was asked
  budget_spent,  // it is not, and there is no budget left: inconclusive
};

// Only the deciding time is watched (the device's; on a CPU the wall's). Refused: to wait for the other one
// as well. The wall time of a short pass on a shared host may never become narrow; it has its own interval in
// the record, and does not make the device's time doubtful.
class StoppingRule {
 public:
  explicit StoppingRule(const StoppingOptions& options) : options_(options) {}

  // A sample that is kept.
  void add(double deciding_ns);
  // Time that any sample cost, kept or not.
  void spend(double cost_ns) { spent_ns_ += cost_ns; }
  Stop state() const;

  std::int64_t num_samples() const { return static_cast<std::int64_t>(deciding_.size()); }
  double spent_ns() const { return spent_ns_; }

 private:
  StoppingOptions options_;
  std::vector<double> deciding_;  // ascending
  double spent_ns_ = 0;
};

}  // namespace branchmark
