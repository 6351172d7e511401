// Which reports may be compared, what of them is warned of, several runs of a side, and the noise between
// runs.
#include <functional>

#include "branchmark/compare/comparison_text.hpp"
#include "lib/compare/compare_fixture.hpp"
#include "lib/model/folder.hpp"

namespace branchmark {
namespace {

using test::expect_error;
using test::side_of;
using test::timed_case;
using Compare = test::Compare;

TEST_F(Compare, WhatSaysNothingOfACommitIsRefused) {
  using Change = std::function<void(Report&)>;
  const std::vector<std::pair<std::string, Change>> changes = {
      {"device", [](Report& r) { r.device->name = "NVIDIA H100"; }},
      {"device", [](Report& r) { r.device.reset(); }},
      {"model", [](Report& r) { r.model->profile = "gdn fp32"; }},
      {"model's weights", [](Report& r) { r.model->weights_digest = std::string(64, '0'); }},
      {"model's shape",
       [](Report& r) {
         r.model->shape = {{"hidden", 2560}};
       }},
      {"workload", [](Report& r) { r.scenario->digest = std::string(64, '0'); }},
      {"workload",
       [](Report& r) {
         r.scenario->expanded =
             R"({"bench": {"min_samples": 10, "single_tokens": [128]}, "name": "bench-9b"})";
         r.scenario->digest = sha256_hex(r.scenario->expanded);
       }},
      {"command", [](Report& r) { r.command = "qualify"; }}};
  for (const auto& [what, change] : changes) {
    auto b = report("b");
    change(b);
    expect_error(ErrorCode::usage, {"cannot be compared: " + what + ": A ", "--cross"},
                 [&] { of(report("a"), b); });
    CompareOptions across;
    across.cross = true;
    const auto comparison = of(report("a"), b, across);
    ASSERT_FALSE(comparison.differences.empty()) << what;
    EXPECT_TRUE(comparison.differences.front().refused) << what;
    EXPECT_EQ(comparison.exit.code, kExitOk);
  }
  auto unknown = report("a");
  unknown.tool.git_sha.reset();
  expect_error(ErrorCode::usage, {"commit", "baseline"}, [&] { of(unknown, report("b")); });
  EXPECT_EQ(of(report("a"), unknown).exit.code, kExitOk) << "what is judged may have no commit";
}

TEST_F(Compare, WhatChangesBitsOrSpeedIsWarnedOf) {
  auto b = report("b");
  b.device->driver = "581.2";
  b.device->power_limit_w = 600;
  b.device->cublaslt = "13.2.0";
  b.device_before = Json{{"throttle_reasons", {"clocks_setting"}}, {"memory_clock_mhz", 3201}};
  b.environment["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8";
  b.environment["BRANCHMARK_GIT_SHA"] = "bbbb";
  b.tool.compiler = "clang 16.0.6";
  b.tool.git_sha = std::string(40, 'b');
  b.kernels->build_id = "nvcc 13.1.0, Release, revision bbbb";
  b.complete = false;
  b.scenario->expanded = R"({"bench": {"min_samples": 100, "single_tokens": [64]}, "name": "bench-9b"})";
  b.scenario->digest = sha256_hex(b.scenario->expanded);
  for (auto& record : b.cases) record.add_metric("sm_clock_mhz", "MHz", Better::none, 1500);
  auto a = report("a");
  for (auto& record : a.cases) record.add_metric("sm_clock_mhz", "MHz", Better::none, 1980);
  const auto comparison = of(a, b);
  EXPECT_EQ(comparison.exit.code, kExitOk);
  EXPECT_EQ(
      warnings(comparison),
      (std::vector<std::string>{"sampling", "driver", "cuBLASLt", "power limit", "clock policy", "compiler",
                                "kernel module's toolchain", "completeness", "clock while cases ran",
                                "environment variable CUBLAS_WORKSPACE_CONFIG"}));
  const auto text = comparison_text(comparison, Colour::none);
  EXPECT_NE(text.find("driver: A 580.1, B 581.2"), std::string::npos) << text;
  b = report("b");
  b.kernels->build_id = "nvcc 13.0.88, Release, revision bbbb";
  EXPECT_TRUE(of(report("a"), b).differences.empty()) << "another revision is what is compared";
}

TEST_F(Compare, SeveralRunsOfASide) {
  const auto sides = [&](double slow, const std::string& name) {
    std::vector<NamedReport> reports;
    for (int i = 0; i < 3; ++i)
      reports.push_back({name + std::to_string(i), report(name + std::to_string(i), slow)});
    return reports;
  };
  const auto comparison = compare(Side(sides(1, "a")), Side(sides(1.05, "b")), {});
  const auto& slow = row(comparison, "tokens=2");
  EXPECT_EQ(slow.verdict, CaseVerdict::slower);
  EXPECT_EQ(slow.times[0].a.samples.runs().size(), 3u);
  EXPECT_EQ(slow.times[0].a.samples.num_samples(), 60u);
  EXPECT_EQ(row(comparison, "tokens=4").verdict, CaseVerdict::same);

  auto unstable = sides(1, "b");
  unstable[1].report.cases[0].digests[0] = "other";
  const auto found = compare(Side(sides(1, "a")), Side(std::move(unstable)), {});
  EXPECT_TRUE(row(found, "tokens=1,").outputs->b_unstable);
  EXPECT_FALSE(row(found, "tokens=1,").outputs->a_unstable);
  EXPECT_EQ(found.outputs().num_equal, 5);

  auto other_commit = sides(1, "b");
  other_commit[2].report.tool.git_sha = std::string(40, 'c');
  expect_error(ErrorCode::usage, {"commit", "several"},
               [&] { compare(Side(sides(1, "a")), Side(std::move(other_commit)), {}); });
  auto twice = sides(1, "b");
  twice[2].report.run_id = twice[0].report.run_id;
  expect_error(ErrorCode::usage, {"b2", "b0", "another run"}, [&] { Side(std::move(twice)); });
}

TEST_F(Compare, NothingBelowTheNoiseFloorCounts) {
  std::vector<NamedReport> runs;
  for (int i = 0; i < 4; ++i) runs.push_back({"aa", report("aa" + std::to_string(i), 1 + 0.04 * i)});
  CompareOptions options;
  options.noise_floor = measure_noise_floor(Side(std::move(runs)));
  EXPECT_NEAR(options.noise_floor->cases.at("single/tokens=2,gemm=class").at("device_ns"), 0.12, 0.01);
  EXPECT_LT(options.noise_floor->cases.at("single/tokens=1,gemm=class").at("device_ns"), 0.01);
  const auto a = report("a");
  const auto b = report("b", 1.05);
  EXPECT_EQ(row(of(a, b), "tokens=2").verdict, CaseVerdict::slower);
  EXPECT_EQ(row(of(a, b, options), "tokens=2").verdict, CaseVerdict::same);
  std::vector<NamedReport> with_a_failure;
  for (int i = 0; i < 3; ++i) with_a_failure.push_back({"aa", report("aa" + std::to_string(i))});
  with_a_failure[2].report.cases[1] = timed_case(2, samples(9e6));
  with_a_failure[2].report.cases[1].outcome = Outcome::fail;
  EXPECT_LT(measure_noise_floor(Side(std::move(with_a_failure))).effect, 0.01) << "its times do not count";
  // It survives its file.
  const auto again = noise_floor_from_json(to_json(*options.noise_floor), "floor.json");
  EXPECT_EQ(json_text(to_json(again)), json_text(to_json(*options.noise_floor)));
  EXPECT_GT(again.effect_of("single/tokens=99", "device_ns"), 0);
  expect_error(ErrorCode::usage, {"at least two"}, [&] { measure_noise_floor(side_of(report("one"))); });
}

TEST(NoiseFloor, ATimeHasItsOwnWhereThatIsLarger) {
  NoiseFloor floor;
  floor.effect = 0.02;
  floor.cases = {{"noisy", {{"wall_ns", 0.05}}}, {"quiet", {{"wall_ns", 0.001}}}};
  EXPECT_EQ(floor.effect_of("noisy", "wall_ns"), 0.05);
  EXPECT_EQ(floor.effect_of("noisy", "device_ns"), 0.02);
  EXPECT_EQ(floor.effect_of("quiet", "wall_ns"), 0.02);
  EXPECT_EQ(floor.effect_of("not seen", "wall_ns"), 0.02);
}

}  // namespace
}  // namespace branchmark
