// The cases of `bench` from list to record, on a small model.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "branchmark/base/error.hpp"
#include "branchmark/base/statistics.hpp"
#include "branchmark/report/exit_code.hpp"
#include "lib/bench/bench_session.hpp"
#include "lib/verify/module_under_test.hpp"

namespace branchmark {
namespace {

using test::bench_session;
using test::kQuick;
using test::value;

const std::string kSingle = R"("single_tokens": [38], )" + kQuick;
const std::string kShared =
    R"("shared": {"prefix_tokens": [64], "branches": [1, 3], "branch_tokens": [5]}, )" + kQuick;

std::map<std::string, CaseRecord> run_all(const std::vector<Case>& cases) {
  std::map<std::string, CaseRecord> records;
  for (const auto& one : cases) {
    auto record = run_case(one);
    records[record.key()] = record;
  }
  return records;
}

std::vector<Case> only(std::vector<Case> cases, const std::string& part) {
  std::erase_if(cases, [&](const Case& one) { return one.key().find(part) == std::string::npos; });
  return cases;
}

std::vector<std::string> findings_of(const CaseRecord& record) {
  std::vector<std::string> ids;
  for (const auto& finding : record.findings) ids.push_back(finding.id);
  return ids;
}

TEST(BenchCases, AreListedWithoutADevice) {
  auto session = bench_session(R"("single_tokens": [38, 64],
    "shared": {"prefix_tokens": [0, 64], "branches": [1, 8], "branch_tokens": [5]})");
  const auto cases = bench_cases(session, {});
  std::map<std::string, int> count;
  std::set<std::string> keys;
  for (const auto& one : cases) {
    ++count[one.check];
    keys.insert(one.key());
  }
  EXPECT_EQ(count["ceiling"], 2);
  EXPECT_EQ(count["single"], 2 * 4) << "forward eager and with graphs, fixed, class";
  EXPECT_EQ(count["shared"], 2 * 2 * 4);
  EXPECT_EQ(keys.size(), cases.size());
  EXPECT_TRUE(keys.contains("single/tokens=38,entry=forward_fixed,gemm=class,graph=off,seed=1"));
  EXPECT_TRUE(keys.contains("shared/prefix=64,branches=8,branch_tokens=5,way=packed,gemm=class,seed=1"));
  EXPECT_FALSE(session->is_open());
}

TEST(BenchCases, RefuseAScenarioThatSaysNothingToTime) {
  auto session = std::make_shared<Session>(
      parse_scenario(R"({"schema_version": "1.0", "name": "n", "model": {"preset": "qwen3.5-smoke"}})", "n",
                     "."),
      SessionOptions{});
  EXPECT_THROW(bench_cases(session, {}), Error);
}

TEST(BenchCases, RefuseAPromptThatTheModelCannotTake) {
  try {
    bench_cases(bench_session(R"("single_tokens": [38, 300000])"), {});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("/bench/single_tokens/1"), std::string::npos) << error.what();
  }
}

TEST(BenchCases, SinglePassesCarryTimesWorkAndParity) {
  const auto records = run_all(bench_cases(bench_session(kSingle), {}));
  for (const auto& [key, record] : records) {
    if (record.check != "single") continue;
    if (record.outcome == Outcome::skipped) {
      EXPECT_EQ(record.skip_reason, "graph_unsupported");
      continue;
    }
    EXPECT_EQ(record.outcome, Outcome::pass) << key;
    EXPECT_TRUE(record.invalid_reasons.empty()) << key;
    EXPECT_GE(record.metrics.at("wall_ns").samples.size(), 6u);
    EXPECT_EQ(record.metrics.at("wall_ns").samples.size(), record.metrics.at("device_ns").samples.size());
    EXPECT_EQ(record.digests.size(), 1u);
    EXPECT_EQ(value(record, "asked_tokens"), 38);
    EXPECT_EQ(value(record, "run_tokens"), 38);
    EXPECT_GT(value(record, "peak_device_bytes"), value(record, "weights_bytes"));
    EXPECT_GT(value(record, "stage_gemm_ns"), 0);
    EXPECT_NEAR(value(record, "stage_coverage_ratio"), 1, 0.05);
    EXPECT_EQ(record.witness.at("allocations").found, 0);
  }
  const auto& fixed = records.at("single/tokens=38,entry=forward_fixed,gemm=fixed,graph=off,seed=1");
  const auto& of_class = records.at("single/tokens=38,entry=forward_fixed,gemm=class,graph=off,seed=1");
  EXPECT_EQ(fixed.digests, of_class.digests);
  EXPECT_EQ(value(of_class, "relative_l2"), 0);
  EXPECT_GT(value(fixed, "fixed_over_default_wall_ratio"), 0);
  EXPECT_GT(value(of_class, "class_over_default_device_ratio"), 0);
  const auto& forward = records.at("single/tokens=38,entry=forward,gemm=default,graph=off,seed=1");
  EXPECT_LT(value(forward, "relative_l2"), 0.03);
}

TEST(BenchCases, AloneIsOnePromptTimesTheBranches) {
  const auto records = run_all(only(bench_cases(bench_session(kShared), {}), "shared/"));
  ASSERT_EQ(records.size(), 8u);
  const auto record_of = [&](int branches, const std::string& way) -> const CaseRecord& {
    return records.at("shared/prefix=64,branches=" + std::to_string(branches) +
                      ",branch_tokens=5,way=" + way + ",seed=1");
  };
  const auto& one = record_of(1, "alone_forward,gemm=default").metrics.at("wall_ns");
  const auto& three = record_of(3, "alone_forward,gemm=default").metrics.at("wall_ns");
  EXPECT_FALSE(one.derived);
  EXPECT_TRUE(three.derived);
  ASSERT_EQ(one.samples.size(), three.samples.size());
  for (std::size_t i = 0; i < one.samples.size(); ++i) EXPECT_DOUBLE_EQ(three.samples[i], 3 * one.samples[i]);

  const auto& packed = record_of(3, "packed,gemm=class");
  EXPECT_EQ(packed.outcome, Outcome::pass);
  EXPECT_EQ(packed.digests.size(), 3u);
  EXPECT_EQ(value(packed, "asked_tokens"), 3 * 69);
  EXPECT_EQ(value(packed, "run_tokens"), 64 + 3 * 5);
  EXPECT_EQ(value(packed, "saved_tokens"), 2 * 64);
  EXPECT_EQ(value(packed, "passes"), 2);
  EXPECT_GT(value(packed, "state_bytes"), 0);
  EXPECT_EQ(value(record_of(3, "per_branch,gemm=class"), "passes"), 4);
  EXPECT_EQ(record_of(1, "per_branch,gemm=class").metrics.at("wall_ns").samples,
            record_of(1, "packed,gemm=class").metrics.at("wall_ns").samples)
      << "one branch is one pass either way";
  EXPECT_EQ(value(record_of(3, "alone_fixed,gemm=class"), "passes"), 3);
  const double ratio = median(packed.metrics.at("wall_ns").samples) / median(three.samples);
  EXPECT_DOUBLE_EQ(value(packed, "packed_over_alone_wall_ratio"), ratio);
  for (const auto* name : {"packed_over_per_branch_wall_ratio", "packed_over_alone_fixed_device_ratio"})
    EXPECT_GT(value(packed, name), 0) << name;
}

// What was not selected is not measured, and then there is nothing to compare with.
TEST(BenchCases, OnlyWhatIsSelectedIsMeasured) {
  std::vector<std::string> told;
  BenchOptions options;
  options.progress = [&](const std::string& text) { told.push_back(text); };
  const auto cases = only(bench_cases(bench_session(kSingle), options), "gemm=class");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_GT(cases.front().planned_s(), 0);
  const auto record = run_case(cases.front());
  EXPECT_EQ(record.outcome, Outcome::pass);
  EXPECT_FALSE(record.metrics.contains("class_over_default_wall_ratio"));
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told.front().find("1 workload"), std::string::npos) << told.front();
  EXPECT_EQ(cases.front().planned_s(), 0) << "measured already";
}

// A device that is no CPU: its time is taken behind other work, graphs are replayed.
TEST(BenchCases, OnAnAcceleratorGraphsAreReplayed) {
  const test::MadeUpTelemetry telemetry("steady");
  const auto records =
      run_all(only(bench_cases(bench_session(kSingle, BRANCHMARK_ACCELERATOR_MODULE), {}), "single/"));
  ASSERT_EQ(records.size(), 4u);
  for (const auto& [key, record] : records) {
    EXPECT_EQ(record.outcome, Outcome::pass) << key;
    EXPECT_EQ(value(record, "sm_clock_mhz"), 1800) << key;
    EXPECT_GT(value(record, "energy_joules"), 0) << key;
  }
  const auto& graph = records.at("single/tokens=38,entry=forward,gemm=default,graph=on,seed=1");
  EXPECT_GT(graph.witness.at("graph_replays").found, 12);
  EXPECT_GT(value(graph, "graph_over_eager_device_ratio"), 0);
}

// A fast answer that is wrong is no result.
TEST(BenchCases, WrongAnswersFail) {
  const test::Fault fault("zero_gdn_state");
  const auto cases = only(bench_cases(bench_session(kShared, BRANCHMARK_FAULTY_MODULE), {}), "branches=3");
  ASSERT_EQ(cases.size(), 4u);
  for (const auto& one : cases) {
    const auto record = run_case(one);
    const bool continues = one.key().find("way=alone") == std::string::npos;
    EXPECT_EQ(record.outcome, continues ? Outcome::fail : Outcome::pass) << record.key();
    if (!continues) continue;
    EXPECT_EQ(record.invalid_reasons.front(), "parity_failed");
    EXPECT_GT(value(record, "relative_l2"), 0);
  }
}

TEST(BenchCases, ThrottledSamplesMakeACaseInvalid) {
  const test::MadeUpTelemetry telemetry("throttled");
  const auto session =
      bench_session(R"("single_tokens": [38], "target_interval": 1, "min_samples": 6, "case_budget_s": 0.2)");
  const auto record = run_case(only(bench_cases(session, {}), "gemm=class").front());
  EXPECT_EQ(record.outcome, Outcome::pass) << "the answers are right";
  EXPECT_EQ(record.invalid_reasons, (std::vector<std::string>{"throttled", "no_samples"}));
  EXPECT_EQ(findings_of(record).front(), "throttled");
  EXPECT_TRUE(record.metrics.at("wall_ns").samples.empty());
  EXPECT_GT(value(record, "throttled_samples"), 0);
  ExitDecision decision;
  decision.add(record);
  EXPECT_EQ(decision.decide().code, kExitInconclusive);
  EXPECT_NE(decision.decide().reason.find("throttled"), std::string::npos);
}

TEST(BenchCases, ALostDeviceIsAHardwareFault) {
  const test::MadeUpTelemetry telemetry("lost:8");
  const auto cases = only(bench_cases(bench_session(kSingle), {}), "forward_fixed");
  for (const auto& one : cases) {
    const auto record = run_case(one);
    EXPECT_EQ(record.outcome, Outcome::error);
    EXPECT_EQ(findings_of(record).front(), "hardware_fault");
    ExitDecision decision;
    decision.add(record);
    EXPECT_EQ(decision.decide().code, kExitHardwareFault);
  }
}

TEST(BenchCases, AnUncorrectedErrorIsAHardwareFault) {
  const test::MadeUpTelemetry telemetry("ecc:8");
  const auto record = run_case(only(bench_cases(bench_session(kSingle), {}), "gemm=class").front());
  EXPECT_EQ(record.outcome, Outcome::error);
  EXPECT_EQ(findings_of(record).front(), "hardware_fault");
}

}  // namespace
}  // namespace branchmark
