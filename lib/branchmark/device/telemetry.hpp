// What a device says of itself while it works: clocks, temperature, power, why it holds its clocks back, its
// error counters, and who else uses it.
//
// On an NVIDIA device this comes from NVML, which belongs to the driver and is opened at run time: without it
// everything is unknown, and every unknown value has a reason. A kernel module could not tell: these are the
// device's own counters, beside any work that it is given.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/kernels.h"

namespace branchmark {

// One reading. A member that was asked for and is empty has its reason in `null_reasons`, by its name.
struct Telemetry {
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_celsius;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::optional<double> energy_joules;      // since the driver was loaded
  std::optional<double> utilisation_share;  // of the driver's last sampling period
  // Why clocks are lower than they might be: names of throttle_reasons().
  std::optional<std::vector<std::string>> throttle_reasons;
  std::optional<std::int64_t> ecc_corrected;    // since the driver was loaded
  std::optional<std::int64_t> ecc_uncorrected;  // since the driver was loaded
  std::optional<std::int64_t> remapped_rows_corrected;
  std::optional<std::int64_t> remapped_rows_uncorrected;
  std::optional<std::int64_t> other_processes;
  std::map<std::string, std::string> null_reasons;
};

// A reason for lower clocks, by NVML's bit for it.
struct ThrottleReason {
  std::uint64_t bit;
  std::string_view name;
  // The device is too hot or its supply too weak: a time taken meanwhile says nothing of the work. A power
  // cap is not among these. Large products run into it on a device in good order, and it is how that device
  // does such work; what it does to the clocks is in the report.
  bool spoils_samples;
};
const std::vector<ThrottleReason>& throttle_reasons();
// The first of a reading's reasons that spoils samples; empty where there is none.
std::string spoiling_reason(const Telemetry& reading);
bool is_power_capped(const Telemetry& reading);

// Used by one thread.
class TelemetrySource {
 public:
  virtual ~TelemetrySource() = default;
  // "nvml", "none", "test: throttled", ...
  virtual std::string name() const = 0;
  // Everything. Throws hardware_fault where the device is lost.
  virtual Telemetry read() = 0;
  // Clock, temperature, power, throttle reasons and uncorrected errors alone: quick enough for every sample.
  virtual Telemetry read_state() { return read(); }
};

// The source for a device: NVML where it can be opened and knows the device by its UUID or PCI id, else one
// that knows nothing and says why. Throws hardware_fault where the device is lost.
//
// For tests, the environment variable BRANCHMARK_TEST_TELEMETRY puts a made-up source in its place: see
// telemetry_test_source.hpp.
std::unique_ptr<TelemetrySource> open_telemetry(const bmk_device_info& info);

// A source that knows nothing, for the one reason.
std::unique_ptr<TelemetrySource> no_telemetry(std::string reason);

// The names of Telemetry's members, in order, as they are called in reports and in `null_reasons`.
const std::vector<std::string>& telemetry_names();

}  // namespace branchmark
