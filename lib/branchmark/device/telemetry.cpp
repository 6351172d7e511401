#include "branchmark/device/telemetry.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "branchmark/device/nvml.hpp"
#include "branchmark/device/telemetry_test_source.hpp"

namespace branchmark {
namespace {

class NoTelemetry final : public TelemetrySource {
 public:
  explicit NoTelemetry(std::string reason) : reason_(std::move(reason)) {}

  std::string name() const override { return "none"; }

  Telemetry read() override {
    Telemetry reading;
    for (const auto& name : telemetry_names()) reading.null_reasons[name] = reason_;
    return reading;
  }

 private:
  std::string reason_;
};

}  // namespace

const std::vector<std::string>& telemetry_names() {
  static const std::vector<std::string> names = {
      "sm_clock_mhz",   "memory_clock_mhz", "temperature_celsius",     "power_w",
      "power_limit_w",  "energy_joules",    "utilisation_share",       "throttle_reasons",
      "ecc_corrected",  "ecc_uncorrected",  "remapped_rows_corrected", "remapped_rows_uncorrected",
      "other_processes"};
  return names;
}

// nvmlClocksEventReasons.
const std::vector<ThrottleReason>& throttle_reasons() {
  static const std::vector<ThrottleReason> reasons = {
      {0x1, "idle", false},
      {0x2, "clocks_setting", false},
      {0x4, "power_cap", false},
      {0x8, "hardware_slowdown", true},
      {0x10, "sync_boost", false},
      {0x20, "thermal_slowdown", true},
      {0x40, "hardware_thermal_slowdown", true},
      {0x80, "power_brake_slowdown", true},
      {0x100, "display_clocks_setting", false},
  };
  return reasons;
}

std::string spoiling_reason(const Telemetry& reading) {
  if (!reading.throttle_reasons) return "";
  for (const auto& reason : throttle_reasons())
    if (reason.spoils_samples && std::find(reading.throttle_reasons->begin(), reading.throttle_reasons->end(),
                                           reason.name) != reading.throttle_reasons->end())
      return std::string(reason.name);
  return "";
}

bool is_power_capped(const Telemetry& reading) {
  return reading.throttle_reasons &&
         std::find(reading.throttle_reasons->begin(), reading.throttle_reasons->end(), "power_cap") !=
             reading.throttle_reasons->end();
}

std::unique_ptr<TelemetrySource> no_telemetry(std::string reason) {
  return std::make_unique<NoTelemetry>(std::move(reason));
}

std::unique_ptr<TelemetrySource> open_telemetry(const bmk_device_info& info) {
  if (const char* mode = std::getenv("BRANCHMARK_TEST_TELEMETRY"); mode != nullptr && *mode != '\0')
    return test_telemetry(mode);
  if (info.is_cpu != 0) return no_telemetry("a CPU has no such counter");
  return open_nvml(info.uuid, info.pci_id);
}

}  // namespace branchmark
