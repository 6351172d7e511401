// What is found out about a workload apart from its samples, in calls of their own: these are slowed down by
// being looked at, or need the device for longer than a sample.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "branchmark/bench/bench_device.hpp"
#include "branchmark/bench/stage_timer.hpp"
#include "branchmark/bench/workload.hpp"

namespace branchmark {

struct Inspection {
  std::vector<StageTimes> stages;  // one a call
  // What eager calls without events between their stages took on the device, in turn with the ones above.
  std::vector<double> unobserved_ns;
  // Of one call, by the device's counter; empty where it has none.
  std::optional<double> energy_joules;
  // Weights, activations, workspaces and states that the library holds for this workload alone. What the
  // module and the driver keep beside is not in it.
  double peak_device_bytes = 0;
};

// `call_ns`: what a call takes. `queue_ns`: what its slowest pass takes to queue. Leaves the workload's
// models without scratch and pooled states.
Inspection inspect(BenchDevice& device, const Workload& workload, double call_ns, double queue_ns);

}  // namespace branchmark
