#include "branchmark/report/exit_code.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <new>

#include "fixture.hpp"

namespace branchmark {
namespace {

CaseRecord with_outcome(Outcome outcome, std::string finding = "") {
  CaseRecord record;
  record.check = "check";
  record.outcome = outcome;
  if (!finding.empty()) record.findings = {{std::move(finding), Severity::error, "", ""}};
  return record;
}

int code_with(std::initializer_list<CaseRecord> records) {
  ExitDecision decision;
  for (const CaseRecord& record : records) decision.add(record);
  return decision.decide().code;
}

TEST(ExitCode, OutcomesHaveTheirCodes) {
  const CaseRecord pass = with_outcome(Outcome::pass);
  EXPECT_EQ(code_with({pass}), 0);
  EXPECT_EQ(code_with({pass, with_outcome(Outcome::fail)}), 1);
  EXPECT_EQ(code_with({pass, with_outcome(Outcome::error, "kernel")}), 1);
  EXPECT_EQ(code_with({pass, with_outcome(Outcome::error, "hardware_fault")}), 5);
  EXPECT_EQ(code_with({pass, with_outcome(Outcome::error, "io")}), 6);
  EXPECT_EQ(code_with({pass, with_outcome(Outcome::vacuous)}), 3);
  EXPECT_EQ(code_with({pass, with_outcome(Outcome::not_eligible)}), 4);
  EXPECT_EQ(code_with({pass, with_outcome(Outcome::timeout)}), 7);
  EXPECT_EQ(code_with({pass, with_outcome(Outcome::interrupted)}), 128 + SIGINT);
  CaseRecord invalid = pass;
  invalid.invalid_reasons = {"throttled"};
  EXPECT_EQ(code_with({pass, invalid}), 3);
}

TEST(ExitCode, SkippedNeedsAnAllowedReasonAndCompany) {
  EXPECT_EQ(code_with({passing_case(), skipped_case()}), 0);
  EXPECT_EQ(code_with({passing_case(), skipped_case("because")}), 3);
  EXPECT_EQ(code_with({skipped_case()}), 3);
}

// K40
TEST(ExitCode, K40NothingRunIsNeverOk) {
  EXPECT_EQ(ExitDecision().decide().code, 2);
  EXPECT_FALSE(ExitDecision().decide().reason.empty());
}

TEST(ExitCode, WorstOfSeveralHolds) {
  const std::vector<int> worst_first = {128 + SIGTERM, 70, 5, 7, 6, 1, 4, 3};
  for (std::size_t i = 0; i < worst_first.size(); ++i) {
    ExitDecision decision;
    decision.add(passing_case());
    for (std::size_t j = worst_first.size(); j-- > i;) decision.add(worst_first[j], "because");
    EXPECT_EQ(decision.decide().code, worst_first[i]);
  }
}

TEST(ExitCode, UsageOnlyBeforeTheFirstCase) {
  ExitDecision before;
  before.add(Error(ErrorCode::usage, "bad scenario"));
  EXPECT_EQ(before.decide().code, 2);
  EXPECT_EQ(before.decide().reason, "bad scenario");
  before.add(passing_case());
  EXPECT_EQ(before.decide().code, 1);
}

TEST(ExitCode, SignalOfTheRunNamesTheNumber) {
  ExitDecision decision;
  decision.add(with_outcome(Outcome::interrupted));
  decision.add(128 + SIGTERM, "SIGTERM");
  EXPECT_EQ(decision.decide().code, 128 + SIGTERM);
  EXPECT_EQ(decision.decide().name, "signal");
}

TEST(ExitCode, ReasonCountsAndNamesTheFirst) {
  ExitDecision decision("medium");
  decision.add(passing_case());
  decision.add(skipped_case());
  EXPECT_EQ(decision.decide().reason, "1 passed, 1 skipped (graph_unsupported 1); level medium");
  decision.add(failing_case());
  decision.add(failing_case());
  EXPECT_EQ(exit_line(decision.decide()),
            "branchmark: exit 1 (check_failed): 2 cases failed, first gemm_rows/n=512,k=256: bits_differ; 1 "
            "passed, "
            "2 failed, 1 skipped (graph_unsupported 1); level medium");
}

TEST(ExitCode, LineStaysOneLine) {
  EXPECT_EQ(exit_line(make_exit(2, "a\nb\x1b[31m")), "branchmark: exit 2 (usage): a b [31m");
}

TEST(ExitCode, ExceptionsBeforeTheFirstCase) {
  const auto code_of = [](ErrorCode code) { return exit_for(Error(code, "x")).code; };
  EXPECT_EQ(code_of(ErrorCode::usage), 2);
  EXPECT_EQ(code_of(ErrorCode::refused), 2);
  EXPECT_EQ(code_of(ErrorCode::not_eligible), 4);
  EXPECT_EQ(code_of(ErrorCode::hardware_fault), 5);
  EXPECT_EQ(code_of(ErrorCode::io), 6);
  EXPECT_EQ(code_of(ErrorCode::kernel), 1);
  EXPECT_EQ(code_of(ErrorCode::internal), 70);
  EXPECT_EQ(exit_for(std::runtime_error("x")).code, 70);
  EXPECT_EQ(exit_for(std::bad_alloc()).code, 4);
}

TEST(ExitCode, ErrorsOfACaseBecomeFindings) {
  CaseRecord record;
  add_error(record, Error(ErrorCode::unserved_size, "N 1, K 2, M 3"));
  EXPECT_EQ(record.outcome, Outcome::error);
  EXPECT_EQ(record.findings.at(0).id, "unserved_size");
  EXPECT_EQ(record.findings.at(0).message, "N 1, K 2, M 3");
  add_error(record, Error(ErrorCode::not_eligible, "memory"));
  EXPECT_EQ(record.outcome, Outcome::not_eligible);
  add_error(record, std::runtime_error("x"));
  EXPECT_EQ(record.findings.at(2).id, "internal");
}

}  // namespace
}  // namespace branchmark
