// One workload being measured: its samples, and everything else that is found out about it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "branchmark/bench/bench_device.hpp"
#include "branchmark/bench/inspection.hpp"
#include "branchmark/bench/rounds.hpp"
#include "branchmark/bench/workload.hpp"

namespace branchmark {

class Measured {
 public:
  Measured(std::shared_ptr<BenchDevice> device, std::unique_ptr<Workload> workload);

  const Workload& workload() const { return *workload_; }
  Series& series() { return series_; }
  const Series& series() const { return series_; }

  // The first call: grows what has to grow, proves the answers, and keeps them. To be called for every
  // workload of a run, largest first, before any is sampled. What it throws is kept in the series.
  void prepare();

  // After the samples: stages, energy, memory.
  void inspect();

  // Throws what ended the series, if something did.
  void rethrow() const;

  // Empty where no sample was taken.
  const std::optional<Inspection>& inspection() const { return inspection_; }
  const BenchDevice& device() const { return *device_; }

  // Of the inspection: the stages' sum as a share of the time that they are parts of, and what is left of
  // that.
  double stage_coverage() const;
  double gaps_ns() const;

  // Kept samples in the order in which they were taken.
  std::vector<double> wall_ns() const;
  std::vector<double> device_ns() const;
  std::vector<double> warm_up_wall_ns() const;

  // forward is near forward_fixed, the other ways are equal to it; every call gave the bits of the first.
  bool parity_passed() const;
  const ParityResult& parity() const { return parity_; }
  std::int64_t num_calls() const { return num_calls_; }
  std::int64_t num_unstable() const { return num_unstable_; }
  std::vector<std::string> digests() const;
  // What one call asked of the module, and of the model.
  const CallCounters& counters_of_call() const { return counters_; }
  const ModelStatistics& statistics_of_call() const { return statistics_; }
  // In all sampled calls.
  std::int64_t num_allocations() const { return num_allocations_; }
  std::int64_t num_replays() const { return num_replays_; }

 private:
  Sample take();
  Sample take_warm_up();
  Sample watched(const std::function<Sample()>& take);
  CallTimer::Call timed_call();
  // What the stages are parts of, and their sum; medians.
  double staged_whole_ns() const;
  double staged_sum_ns() const;
  // Whether a call's answers have the bits of the first call's.
  void check(const std::vector<HiddenRows>& answers);

  std::shared_ptr<BenchDevice> device_;
  std::unique_ptr<Workload> workload_;
  Series series_;
  std::vector<HiddenRows> answers_;
  ParityResult parity_;
  CallCounters counters_;
  ModelStatistics statistics_;
  std::vector<HiddenRows> latest_;
  double queue_ns_ = 0;
  std::optional<Inspection> inspection_;
  std::int64_t num_allocations_ = 0;
  std::int64_t num_replays_ = 0;
  std::int64_t num_calls_ = 0;
  std::int64_t num_unstable_ = 0;
};

// Beyond this relative distance from forward_fixed, forward no longer differs by rounding alone: an answer
// that has nothing to do with the right one is 1.4 away.
inline constexpr double kForwardParityBound = 0.3;

}  // namespace branchmark
