#include "branchmark/bench/inspection.hpp"

#include <algorithm>
#include <cmath>

namespace branchmark {
namespace {

// Calls to find the stages of: as many as fit into this time, within bounds.
constexpr double kStagesWindowNs = 0.2e9;
constexpr double kMinStageCalls = 2;
constexpr double kMaxStageCalls = 5;
// Queueing with two events at each stage takes longer than without.
constexpr double kObservedQueueing = 3;
// The energy counter moves every few tens of milliseconds; over this long a step of it is a few hundredths.
constexpr double kEnergyWindowNs = 0.6e9;

// Watches nothing, and keeps a call from being replayed: stages are those of an eager call.
class Eager final : public PassObserver {
 public:
  void begin_pass(const std::vector<RunRows>&) override {}
  bool wants(std::int64_t, std::string_view) const override { return false; }
  void observe(Context&, std::int64_t, std::string_view, const bmk_matrix&) override {}
};

void time_stages(Inspection& found, BenchDevice& device, const Workload& workload, double call_ns,
                 double queue_ns) {
  const double filler_ns = CallTimer::filler_for(kObservedQueueing * queue_ns);
  auto& timer = device.stage_timer();
  timer.start(filler_ns);
  Eager eager;
  const auto calls = static_cast<std::size_t>(
      std::clamp(kStagesWindowNs / std::max(call_ns, 1.0), kMinStageCalls, kMaxStageCalls));
  while (found.stages.size() < calls) {
    const auto unobserved = device.timer().kept_busy(
        [&](PassHook* hook) { static_cast<void>(workload.call(hook, &eager)); }, filler_ns);
    static_cast<void>(workload.call(&timer, &timer));
    const auto taken = timer.take();
    if (taken.made_events) continue;
    found.unobserved_ns.push_back(unobserved.device_ns);
    found.stages.push_back(taken);
  }
}

// With graphs on, the call records.
double measure_memory(BenchDevice& device, const Workload& workload) {
  workload.release_memory();
  auto& counters = device.context().counters();
  counters.peak_bytes = counters.live_bytes;
  static_cast<void>(workload.call());
  return static_cast<double>(counters.peak_bytes - device.filler().bytes());
}

// Of calls that find their memory and, with graphs on, their recording.
std::optional<double> measure_energy(BenchDevice& device, const Workload& workload, double call_ns) {
  const auto before = device.telemetry().read().energy_joules;
  if (!before) return std::nullopt;
  const auto calls = std::ceil(kEnergyWindowNs / std::max(call_ns, 1.0));
  for (double i = 0; i < calls; ++i) static_cast<void>(workload.call());
  const auto after = device.telemetry().read().energy_joules;
  return after ? std::optional((*after - *before) / calls) : std::nullopt;
}

}  // namespace

Inspection inspect(BenchDevice& device, const Workload& workload, double call_ns, double queue_ns) {
  Inspection found;
  time_stages(found, device, workload, call_ns, queue_ns);
  found.peak_device_bytes = measure_memory(device, workload);
  found.energy_joules = measure_energy(device, workload, call_ns);
  workload.release_memory();
  return found;
}

}  // namespace branchmark
