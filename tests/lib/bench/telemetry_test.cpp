#include "branchmark/device/telemetry.hpp"

#include <gtest/gtest.h>

#include <set>

#include "branchmark/base/error.hpp"
#include "branchmark/device/nvml.hpp"
#include "branchmark/device/telemetry_test_source.hpp"

namespace branchmark {
namespace {

TEST(Telemetry, SteadyKnowsEverything) {
  const auto reading = test_telemetry("steady")->read();
  EXPECT_TRUE(reading.null_reasons.empty());
  EXPECT_TRUE(reading.sm_clock_mhz && reading.energy_joules && reading.other_processes);
  EXPECT_EQ(spoiling_reason(reading), "");
  EXPECT_FALSE(is_power_capped(reading));
}

TEST(Telemetry, HeatSpoilsASampleAndAPowerCapDoesNot) {
  EXPECT_EQ(spoiling_reason(test_telemetry("throttled")->read()), "hardware_thermal_slowdown");
  const auto capped = test_telemetry("capped")->read();
  EXPECT_EQ(spoiling_reason(capped), "");
  EXPECT_TRUE(is_power_capped(capped));
}

TEST(Telemetry, ReadingsInOrderComeFirst) {
  const auto source = test_telemetry("throttled:2");
  EXPECT_EQ(spoiling_reason(source->read()), "");
  EXPECT_EQ(spoiling_reason(source->read()), "");
  EXPECT_NE(spoiling_reason(source->read()), "");
}

TEST(Telemetry, WhatIsNotSupportedHasAReason) {
  const auto reading = test_telemetry("unsupported")->read();
  EXPECT_FALSE(reading.sm_clock_mhz || reading.throttle_reasons || reading.ecc_uncorrected);
  for (const auto& name : telemetry_names())
    EXPECT_EQ(reading.null_reasons.at(name), "not supported") << name;
  EXPECT_EQ(spoiling_reason(reading), "");
}

TEST(Telemetry, ALostDeviceIsAHardwareFault) {
  const auto source = test_telemetry("lost:1");
  EXPECT_NO_THROW(source->read());
  try {
    static_cast<void>(source->read());
    ADD_FAILURE() << "read a lost device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::hardware_fault);
  }
}

TEST(Telemetry, AnUnknownModeIsRefused) {
  for (const char* mode : {"hot", "", ":3", "steady:", "steady:-1", "steady:x"})
    EXPECT_THROW(test_telemetry(mode), Error) << mode;
}

TEST(Telemetry, ACpuHasNone) {
  bmk_device_info info{};
  info.is_cpu = 1;
  const auto source = open_telemetry(info);
  EXPECT_EQ(source->name(), "none");
  EXPECT_EQ(source->read().null_reasons.at("power_w"), "a CPU has no such counter");
}

// Whether there is a driver or not, no device has this id.
TEST(Telemetry, ADeviceThatNvmlDoesNotKnowSaysWhy) {
  const auto source = open_nvml("GPU-00000000-0000-0000-0000-000000000000", "");
  EXPECT_EQ(source->name(), "none");
  const auto reasons = source->read().null_reasons;
  ASSERT_EQ(reasons.size(), telemetry_names().size());
  EXPECT_EQ(reasons.begin()->second.find("NVML: "), 0u) << reasons.begin()->second;
}

TEST(Telemetry, ThrottleReasonsAreDistinct) {
  std::set<std::uint64_t> bits;
  std::set<std::string_view> names;
  for (const auto& reason : throttle_reasons()) {
    EXPECT_EQ(reason.bit & (reason.bit - 1), 0u);
    bits.insert(reason.bit);
    names.insert(reason.name);
  }
  EXPECT_EQ(bits.size(), throttle_reasons().size());
  EXPECT_EQ(names.size(), throttle_reasons().size());
}

}  // namespace
}  // namespace branchmark
