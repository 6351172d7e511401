// Sampling several cases side by side.
//
// Cases are not measured one after another but in rounds: each round takes one sample of every case that
// still wants one, in an order drawn anew. What drifts over minutes (temperature, clocks, a neighbour on the
// host) then meets all cases alike instead of the one that happened to be running, and no case always follows
// the same other one.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "branchmark/bench/stopping_rule.hpp"

namespace branchmark {

// One sample: both times of a case, and in what state the device was, as far as that is known.
struct Sample {
  double deciding_ns = 0;
  double other_ns = 0;
  std::optional<double> clock_mhz;
  std::optional<double> temperature_celsius;
  std::optional<double> power_w;
  bool power_capped = false;
  // Why the sample is tagged and not kept; empty: it is kept.
  std::string tag;
};

struct Series {
  // Takes one sample. What it throws ends the series, and a hardware_fault all of them.
  std::function<Sample()> take;
  // The same for a warm-up, where that is to be had for less; absent: `take`.
  std::function<Sample()> take_warm_up;

  std::vector<Sample> warm_up;
  bool steady = false;          // warm-up ended for being flat, not for a cap
  std::vector<Sample> samples;  // tagged ones among them
  Stop stop = Stop::go_on;
  std::exception_ptr error;

  std::int64_t num_kept() const;
};

struct RoundsOptions {
  StoppingOptions stopping;
  WarmUpOptions warm_up;
  std::uint64_t order_seed = 1;
  std::function<double()> now_ns;  // the clock of budgets; absent: the host's
  // Told after each round how many series (groups of them, where there are groups) there are, and how many
  // still want samples.
  std::function<void(std::int64_t round, std::size_t total, std::size_t open)> progress;
};

// Series that are compared sample by sample. Whenever its turn comes, a group takes one sample of each, by
// turns forwards and backwards (A B, B A, A B, ...): what drifts within a turn meets both alike. All of a
// group go on until the last of them has enough, so that sample i of one was taken beside sample i of the
// others.
struct SeriesGroup {
  std::vector<Series*> members;
};

void run_rounds(const std::vector<SeriesGroup>& groups, const RoundsOptions& options);

}  // namespace branchmark
