// K45: one signal leaves a partial report, a second one ends the program at once; the worker never outlives
// it.

#include <dirent.h>
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;
using Clock = std::chrono::steady_clock;

constexpr const char* kCases =
    "^operators/op=(embed,|silu_mul,fact=accuracy,numerics=(default|reference),rows=257,columns=768)";

void take_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
}

void ignore_interrupts() {
  std::signal(SIGINT, SIG_IGN);
}

class Signals : public test::CommandLine {
 protected:
  void SetUp() override {
    // Orphans come to this process, which can then see them end.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }

  // A run that stands still in its first case of silu_mul, after some that passed.
  pid_t start_hanging(std::vector<std::string> more = {}, void (*prepare)() = take_signals) const {
    std::vector<std::string> arguments = {"qualify",  "smoke", "--kernels", BRANCHMARK_PROCESS_FAULTS_MODULE,
                                          "--level",  "quick", "--report",  "report.json",
                                          "--filter", kCases};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto child = start(arguments, {{"BRANCHMARK_TEST_FAULT", "hang"}}, prepare);
    // These have passed, and the next one has had time to begin.
    EXPECT_TRUE(within(30, [&] { return num_announced() >= num_before_hang_; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return child;
  }

  std::int64_t num_announced() const {
    const auto text = test::read_whole(err_file());
    std::int64_t count = 0;
    for (auto at = text.find("] pass"); at != std::string::npos; at = text.find("] pass", at + 1)) ++count;
    return count;
  }

  static bool within(double seconds, const std::function<bool()>& holds) {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (!holds()) {
      if (Clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
  }

  static std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const auto stat = test::read_whole(entry.path() / "stat");
      const auto after_name = stat.rfind(')');
      if (after_name == std::string::npos || after_name + 4 > stat.size()) continue;
      if (std::strtol(stat.c_str() + after_name + 4, nullptr, 10) == parent)
        children.push_back(std::stoi(name));
    }
    return children;
  }

  void expect_partial(const std::string& outcome) const {
    const auto found = report();
    EXPECT_FALSE(found.at("complete").get<bool>());
    ASSERT_EQ(std::ssize(found.at("cases")), num_before_hang_ + 1);
    for (std::int64_t i = 0; i < num_before_hang_; ++i)
      EXPECT_EQ(found.at("cases")[static_cast<std::size_t>(i)].at("outcome"), "pass");
    EXPECT_EQ(found.at("cases").back().at("outcome"), outcome);
  }

  std::int64_t num_before_hang_ = 4;  // cases of embed
};

TEST_F(Signals, OneInterruptLeavesAPartialReport) {
  const auto child = start_hanging();
  kill(child, SIGINT);
  expect_exit(wait(child), 128 + SIGINT, {"signal", "SIGINT"});
  expect_partial("interrupted");
  EXPECT_EQ(report().at("exit").at("code"), 130);
}

TEST_F(Signals, OneTerminationLeavesAPartialReport) {
  const auto child = start_hanging();
  kill(child, SIGTERM);
  expect_exit(wait(child), 128 + SIGTERM, {"signal", "SIGTERM"});
  expect_partial("interrupted");
}

// A terminal's Ctrl-C reaches the worker too.
TEST_F(Signals, AnInterruptOfTheWholeGroupIsTheSame) {
  const auto child = start_hanging({}, [] {
    take_signals();
    setpgid(0, 0);
  });
  kill(-child, SIGINT);
  expect_exit(wait(child), 128 + SIGINT, {"SIGINT"});
  expect_partial("interrupted");
}

TEST_F(Signals, ASecondInterruptEndsAtOnce) {
  // In this process nothing can stop the case, so the first one waits for it.
  const auto child = start_hanging({"--in-process"});
  kill(child, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
  kill(child, SIGINT);
  EXPECT_EQ(wait(child).code, 128 + SIGINT);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "report.json"));
  const auto rebuilt =
      run({"report", "--from-journal", "report.journal.jsonl", "--report", "report.json", "--force"});
  expect_exit(rebuilt, 0, {"did not end"});
  EXPECT_EQ(std::ssize(report().at("cases")), num_before_hang_);
}

TEST_F(Signals, WhatWasIgnoredStaysIgnored) {
  const auto child = start_hanging({"--case-timeout", "2"}, ignore_interrupts);
  kill(child, SIGINT);
  kill(child, SIGINT);
  kill(child, SIGTERM);
  expect_exit(wait(child), 128 + SIGTERM, {"SIGTERM"});
}

TEST_F(Signals, TheNextScenarioDoesNotRun) {
  write_scenario();
  const auto child = start({"qualify", "smoke", "small.json", "--kernels", BRANCHMARK_PROCESS_FAULTS_MODULE,
                            "--level", "quick", "--filter", kCases},
                           {{"BRANCHMARK_TEST_FAULT", "hang"}}, take_signals);
  ASSERT_TRUE(within(30, [&] { return num_announced() >= num_before_hang_; }));
  kill(child, SIGTERM);
  const auto ended = wait(child);
  expect_exit(ended, 128 + SIGTERM, {});
  EXPECT_EQ(ended.err.find("qualify small"), std::string::npos) << ended.err;
}

// Ctrl-Z and fg: the time in between is not the case's.
TEST_F(Signals, StoppedTimeIsNoTimeout) {
  const auto child = start_hanging({"--case-timeout", "4"});
  kill(child, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(4500));
  kill(child, SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(child, SIGTERM);
  expect_exit(wait(child), 128 + SIGTERM, {"SIGTERM"});
  expect_partial("interrupted");
}

TEST_F(Signals, TheWorkerDiesWithItsSupervisor) {
  const auto child = start_hanging();
  const auto workers = children_of(child);
  ASSERT_EQ(workers.size(), 1u);
  kill(child, SIGKILL);
  EXPECT_EQ(wait(child).code, 128 + SIGKILL);
  int status = 0;
  EXPECT_TRUE(within(10, [&] { return waitpid(workers.front(), &status, WNOHANG) == workers.front(); }));
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_F(Signals, AKilledWorkerIsToldFromAKilledRun) {
  const auto child = start_hanging({"--case-timeout", "3"});
  const auto workers = children_of(child);
  ASSERT_EQ(workers.size(), 1u);
  kill(workers.front(), SIGKILL);
  expect_exit(wait(child), 7, {"timeout"});
  const auto found = report();
  EXPECT_TRUE(found.at("complete").get<bool>());
  const auto& struck = found.at("cases")[static_cast<std::size_t>(num_before_hang_)];
  EXPECT_EQ(struck.at("outcome"), "error");
  EXPECT_NE(struck.at("findings")[0].at("message").get<std::string>().find("SIGKILL"), std::string::npos);
}

}  // namespace
}  // namespace branchmark
