// Cases that take their process with them: each costs itself, is explained, and all others finish.

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

constexpr const char* kStruckOp = "operators/op=silu_mul";

class Worker : public test::CommandLine {
 protected:
  // Some quick cases; those of silu_mul are the ones that the faults strike.
  static std::vector<std::string> command(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "qualify",   "smoke",
        "--kernels", BRANCHMARK_PROCESS_FAULTS_MODULE,
        "--level",   "quick",
        "--report",  "report.json",
        "--filter",  "^operators/op=(embed|copy_2d|silu_mul,fact=accuracy),"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  // Every case of silu_mul has `outcome` and a finding `id` that says `part`; every other one passed.
  void expect_struck(const std::string& outcome, const std::string& id, const std::string& part) const {
    const auto found = report();
    EXPECT_TRUE(found.at("complete").get<bool>());
    std::int64_t struck = 0;
    std::int64_t passed = 0;
    for (const auto& one : found.at("cases")) {
      if (one.at("key").get<std::string>().find(kStruckOp) != 0) {
        EXPECT_EQ(one.at("outcome"), "pass") << one;
        ++passed;
        continue;
      }
      ++struck;
      EXPECT_EQ(one.at("outcome"), outcome) << one;
      ASSERT_EQ(one.at("findings").size(), 1u) << one;
      EXPECT_EQ(one.at("findings")[0].at("id"), id);
      EXPECT_NE(one.at("findings")[0].at("message").get<std::string>().find(part), std::string::npos) << one;
    }
    EXPECT_GT(struck, 1) << "a fresh worker is struck again, and the run still ends";
    EXPECT_GT(passed, 1);
  }
};

TEST_F(Worker, ASegmentationFaultCostsOnlyItsCase) {
  expect_exit(run(command(), {{"BRANCHMARK_TEST_FAULT", "segfault"}}), 1, {kStruckOp, "worker_signal"});
  expect_struck("error", "worker_signal", "SIGSEGV");
  const auto suggestion = report().at("cases").back().at("findings")[0].at("suggestion").get<std::string>();
  EXPECT_NE(suggestion.find("branchmark qualify smoke --kernels"), std::string::npos) << suggestion;
  EXPECT_NE(suggestion.find("--in-process"), std::string::npos) << suggestion;
}

TEST_F(Worker, AKilledWorkerCostsOnlyItsCase) {
  expect_exit(run(command(), {{"BRANCHMARK_TEST_FAULT", "kill_self"}}), 1, {kStruckOp, "worker_signal"});
  expect_struck("error", "worker_signal", "SIGKILL");
}

TEST_F(Worker, AnExitInsideACaseCostsOnlyItsCase) {
  expect_exit(run(command(), {{"BRANCHMARK_TEST_FAULT", "exit"}}), 1, {kStruckOp, "worker_exit"});
  expect_struck("error", "worker_exit", "exit code 0");
}

// K45
TEST_F(Worker, K45AHangIsATimeoutAnd7) {
  expect_exit(run(command({"--case-timeout", "1.5"}), {{"BRANCHMARK_TEST_FAULT", "hang"}}), 7,
              {"hang", kStruckOp, "timeout"});
  expect_struck("timeout", "timeout", "had not ended after 1.5 s");
}

TEST_F(Worker, ALostDeviceIs5AndAFreshWorkerContinues) {
  expect_exit(run(command(), {{"BRANCHMARK_TEST_FAULT", "device_lost"}}), 5, {"hardware_fault", kStruckOp});
  expect_struck("error", "hardware_fault", "fell off the bus");
}

TEST_F(Worker, AFaultInTheFirstCaseLeavesTheOthers) {
  expect_exit(run(command({"--set", "checks=[\"operators\"]"}), {{"BRANCHMARK_TEST_FAULT", "segfault@1"}}), 1,
              {"worker_signal"});
  expect_struck("error", "worker_signal", "SIGSEGV");
}

// K45
TEST_F(Worker, K45ACaseThatCannotAllocateFailsAlone) {
  // The first allocations belong to the model, and without those no case begins.
  Json found;
  for (int call = 40; call < 200 && (found.is_null() || found.at("cases").empty()); call += 4) {
    const auto fault = "out_of_memory@" + std::to_string(call);
    expect_exit(run(command({"--force"}), {{"BRANCHMARK_TEST_FAULT", fault}}), 4, {});
    found = report();
  }
  std::int64_t struck = 0;
  for (const auto& one : found.at("cases")) {
    if (one.at("outcome") == "pass") continue;
    ++struck;
    EXPECT_EQ(one.at("outcome"), "not_eligible") << one;
    EXPECT_NE(one.at("findings")[0].at("message").get<std::string>().find("nothing left"), std::string::npos);
  }
  EXPECT_EQ(struck, 1);
  EXPECT_GT(found.at("cases").size(), 4u);
  EXPECT_TRUE(found.at("complete").get<bool>());
}

TEST_F(Worker, WhatEndsARunBeforeItsFirstCaseKeepsItsCode) {
  struct Opening {
    const char* fault;
    int code;
    std::vector<std::string> parts;
  };
  const std::vector<Opening> all = {
      {"open_not_eligible", 4, {"taken by another"}},
      {"open_device_lost", 5, {"fell off the bus"}},
      {"open_error", 1, {"does not answer"}},
      {"open_segfault", 1, {"SIGSEGV", "before its first case"}},
  };
  for (const auto& opening : all) {
    expect_exit(run(command({"--force"}), {{"BRANCHMARK_TEST_FAULT", opening.fault}}), opening.code,
                opening.parts);
    const auto found = report();
    EXPECT_EQ(found.at("exit").at("code"), opening.code);
    EXPECT_FALSE(found.at("complete").get<bool>());
    EXPECT_TRUE(found.at("cases").empty());
  }
}

TEST_F(Worker, OpeningMayTakeTenTimesACase) {
  expect_exit(run(command({"--case-timeout", "0.05"}), {{"BRANCHMARK_TEST_FAULT", "open_hang"}}), 7,
              {"not open after 0.5 s", "--case-timeout"});
}

TEST_F(Worker, GivesTheReportOfARunInProcess) {
  expect_exit(run(command()), 0, {});
  const auto apart = report();
  expect_exit(run(command({"--in-process", "--force"})), 0, {});
  const auto inside = report();
  for (const char* part : {"model", "device", "kernels", "scenario", "gemm", "exit"})
    EXPECT_EQ(apart.at(part), inside.at(part)) << part;
  EXPECT_EQ(apart.at("cases").size(), inside.at("cases").size());
}

TEST_F(Worker, ACrashInProcessIsLeftToTheDebugger) {
  const auto ended = run(command({"--in-process"}), {{"BRANCHMARK_TEST_FAULT", "segfault"}});
  EXPECT_EQ(ended.code, 128 + SIGSEGV);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "report.json"));
  expect_exit(run({"report", "--from-journal", "report.journal.jsonl"}), 0, {"did not end"});
}

TEST_F(Worker, ATimeBudgetLeavesTheRestInconclusive) {
  const auto ended = run(command({"--time-budget", "0.000001"}));
  expect_exit(ended, 3, {"time budget", "cases not begun"});
  const auto found = report();
  EXPECT_FALSE(found.at("complete").get<bool>());
  EXPECT_TRUE(found.at("cases").empty());
  expect_exit(run(command({"--time-budget", "3600", "--force"})), 0, {});
  EXPECT_TRUE(report().at("complete").get<bool>());
  expect_exit(run(command({"--time-budget", "0.000001", "--in-process", "--force"})), 3, {"time budget"});
}

// Passing cases before the budget ends are kept; the case that runs at that moment is not cut off.
TEST_F(Worker, ATimeBudgetEndsBetweenCases) {
  expect_exit(
      run(command({"--time-budget", "4", "--case-timeout", "5"}), {{"BRANCHMARK_TEST_FAULT", "hang"}}), 7,
      {"timeout"});
  const auto found = report();
  EXPECT_FALSE(found.at("complete").get<bool>());
  std::int64_t timeouts = 0;
  for (const auto& one : found.at("cases")) timeouts += one.at("outcome") == "timeout";
  EXPECT_EQ(timeouts, 1);
}

TEST_F(Worker, SecondsAreCheckedBeforeAnythingElse) {
  for (const char* option : {"--case-timeout", "--time-budget"})
    for (const char* value : {"0", "-1", "nan", "inf", "ten", "1e300", ""})
      expect_exit(run({"qualify", "smoke", option, value}), 2, {option});
}

// Not the worker's fault, nor the machine's: the tool itself cannot get what it needs.
TEST_F(Worker, AFaultOfTheSupervisorIs70) {
  const auto few_files = [] {
    // What the test's own parent left open would count too.
    for (int fd = STDERR_FILENO + 1; fd < 256; ++fd) close(fd);
    const rlimit files = {4, 4};
    setrlimit(RLIMIT_NOFILE, &files);
  };
  expect_exit(run(command(), {}, few_files), 70, {"internal", "Too many open files"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "report.json"));
}

TEST_F(Worker, TheVariableOfAWorkerIsNothingToSetByHand) {
  expect_exit(run(command(), {{"BRANCHMARK_WORKER", "x"}}), 2, {"BRANCHMARK_WORKER"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "report.json"));
}

TEST_F(Worker, AScenarioFromAPipeReachesTheWorker) {
  write_scenario();
  const auto scenario = test::read_whole(folder_.path() / "small.json");
  std::filesystem::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto child = start({"qualify", "./pipe", "--device", "cpu", "--report", "report.json", "--filter",
                            "^repeated.*fixed.*packed$"});
  std::ofstream(pipe) << scenario;
  expect_exit(wait(child), 0, {"1 passed"});
}

}  // namespace
}  // namespace branchmark
