#include "branchmark/bench/inspection.hpp"

#include <algorithm>
#include <cmath>

namespace branchmark {
namespace {

constexpr int kStageCalls = 3;
// Queueing with two events at each stage takes longer than without.
constexpr double kObservedQueueing = 3;
// The energy counter moves every few tens of milliseconds; over this long a step of it is a few hundredths.
constexpr double kEnergyWindowNs = 0.6e9;
constexpr double kMinEnergyCalls = 3;

std::vector<StageTimes> time_stages(BenchDevice& device, const Workload& workload, double queue_ns) {
  StageTimer timer(device.shared_context(), device.filler(),
                   CallTimer::filler_for(kObservedQueueing * queue_ns));
  std::vector<StageTimes> times;
  for (int i = 0; i <= kStageCalls; ++i) {
    static_cast<void>(workload.call(&timer, &timer));
    auto taken = timer.take();
    // The first call makes the events.
    if (i > 0) times.push_back(taken);
  }
  return times;
}

std::optional<double> measure_energy(BenchDevice& device, const Workload& workload, double call_ns) {
  // With graphs on, this call records.
  static_cast<void>(workload.call());
  const auto before = device.telemetry().read().energy_joules;
  if (!before) return std::nullopt;
  const auto calls = std::max(kMinEnergyCalls, std::ceil(kEnergyWindowNs / std::max(call_ns, 1.0)));
  for (double i = 0; i < calls; ++i) static_cast<void>(workload.call());
  const auto after = device.telemetry().read().energy_joules;
  return after ? std::optional((*after - *before) / calls) : std::nullopt;
}

double measure_memory(BenchDevice& device, const Workload& workload) {
  workload.release_memory();
  auto& counters = device.context().counters();
  counters.peak_bytes = counters.live_bytes;
  static_cast<void>(workload.call());
  const auto peak = counters.peak_bytes - device.filler().bytes();
  workload.release_memory();
  return static_cast<double>(peak);
}

}  // namespace

Inspection inspect(BenchDevice& device, const Workload& workload, double call_ns, double queue_ns) {
  Inspection found;
  found.stages = time_stages(device, workload, queue_ns);
  found.energy_joules = measure_energy(device, workload, call_ns);
  found.peak_device_bytes = measure_memory(device, workload);
  return found;
}

}  // namespace branchmark
