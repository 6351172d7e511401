// K41: a case proves only what its witness counters show, and a check whose cases planned nothing of its kind
// proves nothing.

#include <gtest/gtest.h>

#include "branchmark/base/error.hpp"
#include "branchmark/report/exit_code.hpp"
#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/run_case.hpp"

namespace branchmark {
namespace {

CaseRecord passed(const std::string& check, const std::string& counter, std::int64_t planned) {
  CaseRecord record;
  record.check = check;
  witness(record, counter, planned, planned);
  settle(record);
  return record;
}

TEST(Witness, K41FewerThanPlannedFails) {
  CaseRecord record;
  record.check = "shared_equals_fixed";
  witness(record, "states_captured", 3, 2);
  settle(record);
  EXPECT_EQ(record.outcome, Outcome::fail);
  ASSERT_EQ(record.findings.size(), 1u);
  EXPECT_EQ(record.findings[0].id, "witness_differs");
  EXPECT_NE(record.findings[0].message.find("states_captured"), std::string::npos);
  ExitDecision decision;
  decision.add(record);
  EXPECT_EQ(decision.decide().code, kExitCheckFailed);
}

TEST(Witness, K41OneCaseThatPlansNothingPasses) {
  const auto record = passed("shared_equals_fixed", "states_captured", 0);
  EXPECT_EQ(record.outcome, Outcome::pass);
  EXPECT_TRUE(vacuous_checks({record, passed("shared_equals_fixed", "states_captured", 1)}).empty());
}

TEST(Witness, K41ACheckThatPlannedNothingOverTheRunIsVacuous) {
  const std::vector<CaseRecord> records = {passed("shared_equals_fixed", "states_captured", 0),
                                           passed("shared_equals_fixed", "states_captured", 0),
                                           passed("repeated", "prompts_compared", 4)};
  const auto reasons = vacuous_checks(records);
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons[0].find("shared_equals_fixed"), std::string::npos);
  EXPECT_NE(reasons[0].find("no prefix of 64 tokens"), std::string::npos);
}

TEST(Witness, K41EveryCheckHasAnEssentialCounter) {
  for (const auto* check :
       {"operators", "gemm_rows", "continuation", "shared_equals_fixed", "packed_equals_per_branch",
        "batch_equals_alone", "repeated", "reordered", "interleaved", "grown", "recovery", "isolation",
        "refusals", "profiles", "graph_equals_eager", "reference", "parity", "profile"})
    EXPECT_EQ(vacuous_checks({passed(check, "some_other_counter", 5)}).size(), 1u) << check;
}

TEST(Witness, K41WhatFailedOrWasSkippedIsReportedAsThat) {
  auto failed = passed("grown", "scratch_growths", 0);
  failed.outcome = Outcome::fail;
  EXPECT_TRUE(vacuous_checks({failed}).empty());
  CaseRecord skipped;
  skipped.check = "graph_equals_eager";
  skipped.outcome = Outcome::skipped;
  skipped.skip_reason = "graph_unsupported";
  EXPECT_TRUE(vacuous_checks({skipped}).empty());
  EXPECT_TRUE(vacuous_checks({}).empty());
}

Case case_that(std::function<void(CaseRecord&)> run) {
  return {.check = "grown", .parameters = {{"gemm", "fixed"}}, .skip_reason = "", .run = std::move(run)};
}

TEST(RunCase, TurnsAnErrorIntoItsOutcome) {
  const auto kernel =
      run_case(case_that([](CaseRecord&) { throw Error(ErrorCode::unserved_size, "N=1, K=2, M=3"); }));
  EXPECT_EQ(kernel.outcome, Outcome::error);
  ASSERT_EQ(kernel.findings.size(), 1u);
  EXPECT_EQ(kernel.findings[0].id, "unserved_size");
  EXPECT_EQ(kernel.findings[0].message, "N=1, K=2, M=3");
  EXPECT_EQ(
      run_case(case_that([](CaseRecord&) { throw Error(ErrorCode::not_eligible, "no memory"); })).outcome,
      Outcome::not_eligible);
  EXPECT_EQ(run_case(case_that([](CaseRecord&) { throw std::runtime_error("?"); })).outcome, Outcome::error);
}

TEST(RunCase, DoesNotCallWhatIsSkipped) {
  auto skipped = case_that([](CaseRecord&) { ADD_FAILURE(); });
  skipped.skip_reason = "graph_unsupported";
  const auto record = run_case(skipped);
  EXPECT_EQ(record.outcome, Outcome::skipped);
  EXPECT_EQ(record.skip_reason, "graph_unsupported");
}

TEST(RunCase, ACaseThatSetsNoOutcomeIsNoPass) {
  const auto record = run_case(case_that([](CaseRecord&) {}));
  EXPECT_EQ(record.outcome, Outcome::error);
  EXPECT_EQ(record.key(), "grown/gemm=fixed");
}

TEST(ControlFlippedBit, IsCaughtInBothStorageTypes) {
  for (const auto activation : {BMK_BF16, BMK_F32}) {
    CaseRecord record;
    control_flipped_bit(record, {2, static_cast<bmk_dtype>(activation), {1.0f, 2.0f}});
    EXPECT_EQ(record.witness.at("controls_caught").planned, 1);
    EXPECT_EQ(record.witness.at("controls_caught").found, 1);
  }
}

}  // namespace
}  // namespace branchmark
