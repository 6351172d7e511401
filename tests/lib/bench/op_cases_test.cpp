// The cases of `bench --ops` from list to record, on a small model.

#include "branchmark/bench/ops/op_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "branchmark/bench/ops/ops_text.hpp"
#include "branchmark/report/exit_code.hpp"
#include "lib/bench/bench_session.hpp"
#include "lib/verify/module_under_test.hpp"

namespace branchmark {
namespace {

using test::value;

const std::string kSmallOps = R"("single_tokens": [70],
  "shared": {"prefix_tokens": [64], "branches": [3], "branch_tokens": [5]}, )" +
                              test::kQuick;

std::vector<CaseRecord> run_cases(const std::string& part, const char* module = BRANCHMARK_CPU_MODULE) {
  std::vector<CaseRecord> records;
  for (const auto& one : op_cases(test::bench_session(kSmallOps, module), {}))
    if (one.key().find(part) != std::string::npos) records.push_back(run_case(one));
  return records;
}

bool has_reason(const CaseRecord& record, const std::string& reason) {
  return std::count(record.invalid_reasons.begin(), record.invalid_reasons.end(), reason) > 0;
}

TEST(OpCases, AreListedWithoutADevice) {
  auto session = test::bench_session(kSmallOps);
  EXPECT_GT(op_cases(session, {}).size(), 30u);
  EXPECT_FALSE(session->is_open());
}

TEST(OpCases, EveryOneIsTimedAndComparedWithItself) {
  Report report;
  for (auto& record : run_cases("op/")) {
    EXPECT_EQ(record.outcome, Outcome::pass) << test::told(record);
    EXPECT_TRUE(record.invalid_reasons.empty()) << test::told(record);
    EXPECT_GE(record.metrics.at("device_ns").samples.size(), 6u) << record.key();
    EXPECT_EQ(record.metrics.at("device_ns").samples.size(), record.metrics.at("wall_ns").samples.size());
    EXPECT_GT(value(record, "bytes_per_second"), 0) << record.key();
    EXPECT_GT(value(record, "copy_ceiling_share"), 0) << record.key();
    EXPECT_GE(value(record, "launches_per_sample"), 1) << record.key();
    EXPECT_FALSE(record.digests.empty()) << record.key();
    EXPECT_EQ(record.witness.at("repeats_compared").found, 2) << record.key();
    report.cases.push_back(std::move(record));
  }
  const auto text = ops_text(report);
  EXPECT_NE(text.find("gemm gate_up class"), std::string::npos) << text;
}

TEST(OpCases, BranchesAreNamedByTheirShape) {
  Report report;
  report.cases = run_cases("name=conv,prefix=64");
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_NE(ops_text(report).find("3 x 5 behind 64"), std::string::npos) << ops_text(report);
}

TEST(OpCases, OnAnotherDeviceABatchIsTimedIdleAndBusy) {
  for (const auto& record : run_cases("name=rms_norm", BRANCHMARK_ACCELERATOR_MODULE)) {
    EXPECT_EQ(record.outcome, Outcome::pass) << test::told(record);
    EXPECT_GT(value(record, "device_ns"), 0);
    EXPECT_GT(value(record, "wall_ns"), 0);
    EXPECT_NE(record.metrics.at("device_ns").samples, record.metrics.at("wall_ns").samples);
  }
}

TEST(OpCases, WorkIsCountedByFormula) {
  // The smoke model: hidden 256, ffn 512.
  const auto product = run_cases("projection=gate_up,gemm=fixed").at(0);
  EXPECT_EQ(value(product, "flop"), 2.0 * 70 * 1024 * 256);
  EXPECT_EQ(value(product, "traffic_bytes"), 2.0 * (70 * 256 + 1024 * 256 + 70 * 1024));
  const auto norm = run_cases("name=rms_norm").at(0);
  EXPECT_EQ(value(norm, "traffic_bytes"), 2.0 * (70 * 256 + 256 + 70 * 256));
  EXPECT_FALSE(norm.metrics.contains("flop"));
}

TEST(OpCases, DigestsStayFromRunToRunAndSeeAChangedRounding) {
  const auto right = run_cases("name=silu_mul").at(0);
  EXPECT_EQ(run_cases("name=silu_mul").at(0).digests, right.digests);
  const test::Fault fault("other_silu_mul");
  const auto other = run_cases("name=silu_mul", BRANCHMARK_FAULTY_MODULE).at(0);
  EXPECT_EQ(other.outcome, Outcome::pass) << "always the same bits, only others than before";
  EXPECT_NE(other.digests, right.digests);
}

TEST(OpCases, BitsThatChangeFailTheCase) {
  const test::Fault fault("changing_silu_mul");
  const auto record = run_cases("name=silu_mul", BRANCHMARK_FAULTY_MODULE).at(0);
  EXPECT_EQ(record.outcome, Outcome::fail) << test::told(record);
  EXPECT_TRUE(has_reason(record, "parity_failed"));
}

TEST(OpCases, AnOpThatDoesNothingFailsItsCase) {
  const test::Fault fault("idle_silu_mul");
  const auto record = run_cases("name=silu_mul", BRANCHMARK_FAULTY_MODULE).at(0);
  EXPECT_EQ(record.outcome, Outcome::fail) << test::told(record);
  ASSERT_FALSE(record.findings.empty());
  EXPECT_NE(record.findings.front().message.find("35840 values"), std::string::npos) << test::told(record);
}

TEST(OpCases, AnOpThatTheModuleLacksIsSkipped) {
  const test::Fault fault("missing_silu_mul");
  const auto record = run_cases("name=silu_mul", BRANCHMARK_FAULTY_MODULE).at(0);
  EXPECT_EQ(record.outcome, Outcome::skipped);
  EXPECT_EQ(record.skip_reason, "op_unsupported");
}

TEST(OpCases, AFailureWhileItIsTimedIsAnError) {
  const test::Fault fault("failing_silu_mul");
  const auto record = run_cases("name=silu_mul", BRANCHMARK_FAULTY_MODULE).at(0);
  EXPECT_EQ(record.outcome, Outcome::error);
  ASSERT_FALSE(record.findings.empty());
  EXPECT_NE(record.findings.at(0).message.find("silu_mul broke"), std::string::npos) << test::told(record);
}

}  // namespace
}  // namespace branchmark
