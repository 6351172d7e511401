// Made-up telemetry, for tests of what depends on it: no machine is throttled, unreadable or lost when a test
// wants it to be.
#pragma once

#include <memory>
#include <string_view>

#include "branchmark/device/telemetry.hpp"

namespace branchmark {

// The mode is a word, and after a colon the number of readings that are still in order:
//   steady      everything known and in order
//   throttled   the device holds its clocks back for being too hot
//   alternating as throttled, in every other reading
//   capped      the power limit holds the clocks back
//   unsupported every value is unknown: "not supported"
//   lost        a reading fails: the device is lost
//   ecc         the uncorrected error counter has risen
//   busy        another process keeps the device at work
// Throws usage for another word.
std::unique_ptr<TelemetrySource> test_telemetry(std::string_view mode);

}  // namespace branchmark
