// What all measurements of a run share: the device, its timer, its telemetry and its ceilings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "branchmark/bench/call_timer.hpp"
#include "branchmark/bench/ceilings.hpp"
#include "branchmark/bench/stage_timer.hpp"
#include "branchmark/device/telemetry.hpp"

namespace branchmark {

class BenchDevice {
 public:
  // Waits for the device to be idle, for a few seconds at most, and measures its ceilings.
  explicit BenchDevice(std::shared_ptr<Context> context);

  Context& context() { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  bool is_cpu() const { return context_->info().is_cpu != 0; }
  StreamFiller& filler() { return filler_; }
  CallTimer& timer() { return timer_; }
  StageTimer& stage_timer() { return stage_timer_; }
  TelemetrySource& telemetry() { return *telemetry_; }
  const Ceilings& ceilings() const { return ceilings_; }

  // The device's state at this moment. Throws hardware_fault where it is lost, or has met an error of memory
  // that it could not correct since this was made.
  Telemetry state();
  // What else kept the device at work before anything was measured; empty: it was idle, or cannot tell.
  const std::string& disturbance() const { return disturbance_; }

 private:
  std::shared_ptr<Context> context_;
  std::unique_ptr<TelemetrySource> telemetry_;
  Telemetry at_first_;
  std::string disturbance_;
  StreamFiller filler_;
  CallTimer timer_;
  StageTimer stage_timer_;
  Ceilings ceilings_;
};

}  // namespace branchmark
