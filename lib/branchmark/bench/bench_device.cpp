#include "branchmark/bench/bench_device.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

constexpr double kIdleUtilisation = 0.05;
constexpr auto kIdleStep = std::chrono::milliseconds(250);
// The driver's figure covers up to a second past, in which the model's weights may have been made.
constexpr int kIdleSteps = 16;

std::string wait_until_idle(Context& context, TelemetrySource& telemetry) {
  context.synchronize();
  double utilisation = 0;
  std::int64_t others = 0;
  for (int i = 0; i < kIdleSteps; ++i) {
    const auto reading = telemetry.read();
    others = reading.other_processes.value_or(0);
    utilisation = reading.utilisation_share.value_or(0);
    if (utilisation <= kIdleUtilisation) return "";
    std::this_thread::sleep_for(kIdleStep);
  }
  return fmt::format("the device is {:.0f}% utilised by something else; {} other processes are on it",
                     100 * utilisation, others);
}

}  // namespace

BenchDevice::BenchDevice(std::shared_ptr<Context> context)
    : context_(std::move(context)),
      telemetry_(open_telemetry(context_->info())),
      at_first_(telemetry_->read()),
      disturbance_(wait_until_idle(*context_, *telemetry_)),
      filler_(context_),
      timer_(context_, filler_),
      stage_timer_(context_, filler_),
      ceilings_(measure_ceilings(context_)) {}

Telemetry BenchDevice::state() {
  auto reading = telemetry_->read_state();
  const auto before = at_first_.ecc_uncorrected.value_or(0);
  if (const auto now = reading.ecc_uncorrected.value_or(before); now > before)
    throw Error(
        ErrorCode::hardware_fault,
        fmt::format("the device met {} errors of memory that it could not correct (ECC) during the run",
                    now - before));
  return reading;
}

}  // namespace branchmark
