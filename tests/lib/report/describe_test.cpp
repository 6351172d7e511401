#include "branchmark/report/describe.hpp"

#include <gtest/gtest.h>

#include "branchmark/device/telemetry_test_source.hpp"

namespace branchmark {
namespace {

// A report has every counter, under the name that its reason would have.
TEST(Describe, CountersWithTheirReasons) {
  const auto known = describe_counters(*test_telemetry("steady"));
  const auto unknown = describe_counters(*test_telemetry("unsupported"));
  for (const auto& name : telemetry_names()) {
    EXPECT_FALSE(known.at(name).is_null()) << name;
    EXPECT_TRUE(unknown.at(name).is_null()) << name;
    EXPECT_TRUE(unknown.at("null_reasons").at(name).is_string()) << name;
  }
  EXPECT_FALSE(known.contains("null_reasons"));
}

}  // namespace
}  // namespace branchmark
