#include "branchmark/device/telemetry_test_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

constexpr std::array<std::string_view, 8> kModes = {"steady",      "throttled", "alternating", "capped",
                                                    "unsupported", "lost",      "ecc",         "busy"};

class TestTelemetry final : public TelemetrySource {
 public:
  TestTelemetry(std::string mode, std::int64_t in_order) : mode_(std::move(mode)), in_order_(in_order) {}

  std::string name() const override { return "test: " + mode_; }

  Telemetry read() override {
    const bool shows = num_readings_++ >= in_order_;
    if (mode_ == "unsupported") return no_telemetry("not supported")->read();
    Telemetry reading = steady();
    if (!shows) return reading;
    if (mode_ == "lost") throw Error(ErrorCode::hardware_fault, "telemetry: the device is lost");
    if (mode_ == "ecc") reading.ecc_uncorrected = 1;
    if (mode_ == "capped") reading.throttle_reasons = {"power_cap"};
    if (mode_ == "throttled" || (mode_ == "alternating" && num_readings_ % 2 == 0)) {
      reading.throttle_reasons = {"hardware_thermal_slowdown"};
      reading.sm_clock_mhz = 900;
    }
    if (mode_ == "busy") {
      reading.other_processes = 1;
      reading.utilisation_share = 0.9;
    }
    return reading;
  }

 private:
  Telemetry steady() const {
    Telemetry reading;
    reading.sm_clock_mhz = 1800;
    reading.memory_clock_mhz = 3000;
    reading.temperature_celsius = 50;
    reading.power_w = 400;
    reading.power_limit_w = 700;
    reading.energy_joules = 10.0 * static_cast<double>(num_readings_);
    reading.utilisation_share = 0;
    reading.throttle_reasons.emplace();
    reading.ecc_corrected = 0;
    reading.ecc_uncorrected = 0;
    reading.remapped_rows_corrected = 0;
    reading.remapped_rows_uncorrected = 0;
    reading.other_processes = 0;
    return reading;
  }

  std::string mode_;
  std::int64_t in_order_;
  std::int64_t num_readings_ = 0;
};

[[noreturn]] void refuse(std::string_view mode) {
  std::string known;
  for (const auto each : kModes) known += (known.empty() ? "" : ", ") + std::string(each);
  throw Error(
      ErrorCode::usage,
      fmt::format("BRANCHMARK_TEST_TELEMETRY: found \"{}\", expected one of {}, and after it perhaps a "
                  "colon and a number of readings",
                  mode, known));
}

}  // namespace

std::unique_ptr<TelemetrySource> test_telemetry(std::string_view mode) {
  const auto colon = std::min(mode.find(':'), mode.size());
  const auto word = mode.substr(0, colon);
  std::int64_t in_order = 0;
  if (colon < mode.size()) {
    const auto* end = mode.data() + mode.size();
    const auto [stop, error] = std::from_chars(mode.data() + colon + 1, end, in_order);
    if (error != std::errc() || stop != end || in_order < 0) refuse(mode);
  }
  if (std::find(kModes.begin(), kModes.end(), word) == kModes.end()) refuse(mode);
  return std::make_unique<TestTelemetry>(std::string(word), in_order);
}

}  // namespace branchmark
