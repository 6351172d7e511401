// `bench` as a person runs it. Sizes and samples are few: how fast this machine is decides nothing here.

#include <algorithm>

#include "cli/bench_command.hpp"

namespace branchmark {
namespace {

using Bench = test::BenchCommand;

TEST_F(Bench, TimesCasesWithTheirParity) {
  const auto ended = bench({"--filter", "branches=4|ceiling"});
  test::expect_exit(ended, 0, {"6 passed"});
  EXPECT_NE(ended.err.find("Shared prefix"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("Sharing gains most at 4 branches of 38 tokens"), std::string::npos) << ended.err;
  for (const auto& one : cases()) {
    EXPECT_EQ(one.at("validity"), "valid") << one.at("key");
    if (one.at("params").contains("way")) {
      const auto& wall = one.at("metrics").at("wall_ns");
      EXPECT_TRUE(wall.contains("interval")) << one.at("key");
      EXPECT_EQ(wall.contains("derived"), one.at("params").at("way").get<std::string>().starts_with("alone"));
      EXPECT_FALSE(one.at("digests").empty()) << one.at("key");
    }
  }
}

TEST_F(Bench, GraphsAreSkippedWhereThereAreNone) {
  test::expect_exit(bench({"--filter", "single/tokens=128"}), 0,
                    {"3 passed", "1 skipped (graph_unsupported 1)"});
}

TEST_F(Bench, OnAModuleWithGraphsNothingIsSkipped) {
  test::expect_exit(
      bench({"--filter", "single/tokens=128,entry=forward,", "--kernels", BRANCHMARK_ACCELERATOR_MODULE}), 0,
      {"2 passed"});
  const auto report = this->report();
  EXPECT_TRUE(report.at("device_before").at("power_w").is_null());
  EXPECT_TRUE(report.at("device_before").at("null_reasons").at("power_w").is_string());
  for (const auto& one : report.at("cases"))
    if (one.at("params").at("graph") == "on") {
      EXPECT_GT(one.at("witness").at("graph_replays").at("found"), 0);
    }
}

TEST_F(Bench, InjectedThrottlingIsInvalid) {
  const auto ended =
      bench({"--filter", "single/tokens=128,entry=forward_fixed", "--set", "bench.case_budget_s=0.3"},
            {{"BRANCHMARK_TEST_TELEMETRY", "throttled"}});
  test::expect_exit(ended, 3, {"2 cases without a verdict", "throttled", "2 invalid"});
  for (const auto& one : cases()) {
    EXPECT_EQ(one.at("validity"), "invalid");
    EXPECT_EQ(one.at("invalid_reasons").front(), "throttled");
    EXPECT_TRUE(one.at("metrics").at("wall_ns").at("median").is_null());
  }
}

TEST_F(Bench, ALostDeviceIsAHardwareFault) {
  test::expect_exit(bench({"--filter", "gemm=class,graph"}, {{"BRANCHMARK_TEST_TELEMETRY", "lost:9"}}), 5,
                    {"hardware_fault"});
}

TEST_F(Bench, AScenarioWithoutABenchBlockIsRefused) {
  test::expect_exit(run({"bench", "smoke", "--device", "cpu", "--report", "report.json"}), 2,
                    {"smoke: at /bench: missing"});
}

}  // namespace
}  // namespace branchmark
