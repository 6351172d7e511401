// What makes a number unusable, on measurements whose samples are made up.

#include "branchmark/bench/validity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lib/bench/bench_session.hpp"
#include "lib/verify/module_under_test.hpp"

namespace branchmark {
namespace {

class Validity : public testing::Test {
 protected:
  void SetUp() override {
    session_ = test::bench_session(R"("single_tokens": [5], "target_interval": 0.01, "min_samples": 10)",
                                   BRANCHMARK_FAULTY_MODULE);
    device_ = std::make_shared<BenchDevice>(session_->context());
    const WorkloadSpec spec{Way::forward_fixed,
                            GemmKind::fixed,
                            GraphMode::off,
                            {.prefix_tokens = 0, .branches = 1, .branch_tokens = 5}};
    measured_ = std::make_unique<Measured>(device_, std::make_unique<Workload>(session_, spec));
    measured_->prepare();
  }

  void sample(int count, double time_ns, const std::string& tag = "") {
    for (int i = 0; i < count; ++i) {
      Sample sample;
      sample.deciding_ns = sample.other_ns = time_ns;
      sample.tag = tag;
      measured_->series().samples.push_back(sample);
    }
  }

  CaseRecord judged(Stop stop) {
    measured_->series().stop = stop;
    CaseRecord record;
    judge(record, *measured_, session_->scenario());
    return record;
  }

  using Reasons = std::vector<std::string>;
  std::shared_ptr<Session> session_;
  std::shared_ptr<BenchDevice> device_;
  std::unique_ptr<Measured> measured_;
};

TEST_F(Validity, ANarrowIntervalOfRightAnswersIsValid) {
  sample(10, 1e6);
  const auto record = judged(Stop::narrow);
  EXPECT_EQ(record.outcome, Outcome::pass);
  EXPECT_TRUE(record.invalid_reasons.empty());
  EXPECT_TRUE(record.findings.empty());
}

TEST_F(Validity, ABudgetThatEndsLeavesItInconclusive) {
  sample(5, 1e6);
  sample(5, 2e6);
  const auto record = judged(Stop::budget_spent);
  EXPECT_EQ(record.invalid_reasons, Reasons{"interval_too_wide"});
  ASSERT_EQ(record.findings.size(), 1u);
  EXPECT_NE(record.findings[0].suggestion.find("--set bench.case_budget_s="), std::string::npos);
}

// A pass so long that the budget ends first.
TEST_F(Validity, FewerSamplesThanAskedAreSaidToBe) {
  sample(6, 1e6);
  const auto record = judged(Stop::budget_spent);
  EXPECT_EQ(record.invalid_reasons, Reasons{"interval_too_wide"});
  ASSERT_FALSE(record.findings.empty());
  EXPECT_NE(record.findings[0].message.find("6 samples give ±0.00%, asked were at least "), std::string::npos)
      << record.findings[0].message;
}

TEST_F(Validity, NoSampleIsInvalidAndNeverNaN) {
  const auto record = judged(Stop::budget_spent);
  EXPECT_EQ(record.invalid_reasons, Reasons{"no_samples"});
}

TEST_F(Validity, FewThrottledSamplesAreCountedAndLeftOut) {
  sample(10, 1e6);
  sample(3, 5e6, "thermal_slowdown");
  const auto record = judged(Stop::narrow);
  EXPECT_TRUE(record.invalid_reasons.empty());
  ASSERT_EQ(record.findings.size(), 1u);
  EXPECT_EQ(record.findings[0].id, "throttled_samples");
  EXPECT_NE(record.findings[0].message.find("3 of 13"), std::string::npos);
  EXPECT_EQ(measured_->wall_ns().size(), 10u);
}

TEST_F(Validity, TooFewOthersMakeItInvalid) {
  sample(4, 1e6);
  sample(9, 5e6, "thermal_slowdown");
  const auto record = judged(Stop::budget_spent);
  EXPECT_EQ(record.invalid_reasons, (Reasons{"throttled", "interval_too_wide"}));
}

TEST_F(Validity, AnswersThatChangeFailParity) {
  sample(10, 1e6);
  static_cast<void>(measured_->series().take());
  EXPECT_TRUE(measured_->parity_passed());
  {
    const test::Fault fault("norm_without_one");
    static_cast<void>(measured_->series().take());
  }
  EXPECT_EQ(measured_->num_unstable(), 1);
  const auto record = judged(Stop::narrow);
  EXPECT_EQ(record.outcome, Outcome::fail);
  EXPECT_EQ(record.invalid_reasons, Reasons{"parity_failed"});
  EXPECT_NE(record.findings.front().message.find("1 of 2 calls"), std::string::npos);
}

TEST_F(Validity, WithoutAnswersThereIsNoParity) {
  const WorkloadSpec spec{Way::forward,
                          GemmKind::default_choice,
                          GraphMode::off,
                          {.prefix_tokens = 0, .branches = 1, .branch_tokens = 5}};
  const Measured never(device_, std::make_unique<Workload>(session_, spec));
  CaseRecord record;
  judge(record, never, session_->scenario());
  EXPECT_EQ(record.outcome, Outcome::fail);
  EXPECT_EQ(record.invalid_reasons.front(), "parity_failed");
  EXPECT_EQ(record.findings.front().severity, Severity::error);
}

TEST_F(Validity, ADisturbedDeviceMakesEveryCaseInvalid) {
  const test::MadeUpTelemetry telemetry("busy");
  device_ = std::make_shared<BenchDevice>(session_->context());
  EXPECT_FALSE(device_->disturbance().empty());
  const WorkloadSpec spec{Way::forward_fixed,
                          GemmKind::fixed,
                          GraphMode::off,
                          {.prefix_tokens = 0, .branches = 1, .branch_tokens = 5}};
  measured_ = std::make_unique<Measured>(device_, std::make_unique<Workload>(session_, spec));
  measured_->prepare();
  sample(10, 1e6);
  EXPECT_EQ(judged(Stop::narrow).invalid_reasons, Reasons{"device_busy"});
}

TEST_F(Validity, ReasonsAreAClosedList) {
  std::set<std::string_view> names;
  for (const auto& reason : invalid_reasons()) {
    names.insert(reason.name);
    EXPECT_FALSE(reason.meaning.empty());
  }
  EXPECT_EQ(names.size(), invalid_reasons().size());
  for (const auto* name : {"parity_failed", "device_busy", "throttled", "no_samples", "interval_too_wide"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(Validity, ParityComparesBits) {
  auto answers = measured_->workload().call();
  EXPECT_TRUE(measured_->workload().parity(answers).equal);
  answers[0].values[3] = -answers[0].values[3];
  const auto found = measured_->workload().parity(answers);
  EXPECT_FALSE(found.equal);
  EXPECT_EQ(found.num_different, 1);
  EXPECT_GT(found.relative_l2, 0);
  auto zero = answers[0];
  zero.values.assign(zero.values.size(), 0.0f);
  auto negative = zero;
  negative.values[0] = -0.0f;
  EXPECT_FALSE(same_bits(zero, negative));
}

}  // namespace
}  // namespace branchmark
