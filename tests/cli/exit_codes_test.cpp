// The table of exit codes, row by row: a run that ends with each of them. What else can lead to a code is
// told by the tests of the part that can.

#include <sys/resource.h>

#include <csignal>
#include <set>

#include "branchmark/report/exit_code.hpp"
#include "cli/process.hpp"

namespace branchmark {
namespace {

struct Row {
  int code;
  std::string name;
  std::vector<std::string> arguments;
  std::string fault;        // of the module with faults; empty: none
  std::string reason;       // is in the last line
  bool has_report = false;  // which then says the same
  void (*prepare)() = nullptr;
};

const std::string kFaults = BRANCHMARK_PROCESS_FAULTS_MODULE;

// A quick case of an op that the faults leave alone, one that they strike, and both in this order.
const std::string kSpared = "^operators/op=embed,fact=accuracy,table=bf16,out=bf16$";
const std::string kStruck = "^operators/op=silu_mul,fact=accuracy,numerics=default,rows=257,columns=768$";
const std::string kBoth = kSpared + "|" + kStruck;

std::vector<std::string> qualify(const std::string& filter, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"qualify", "smoke",    "--kernels", kFaults,    "--level",
                                        "quick",   "--filter", filter,      "--report", "report.json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The supervisor finds no descriptor for its pipe, where the test's own parent left none open either.
void allow_few_files() {
  for (int fd = STDERR_FILENO + 1; fd < 256; ++fd) close(fd);
  const rlimit files = {4, 4};
  setrlimit(RLIMIT_NOFILE, &files);
}

std::vector<Row> table() {
  return {
      {kExitOk, "ok", qualify(kSpared), "", "1 passed", true},
      {kExitCheckFailed, "check_failed", qualify(kStruck), "segfault", "worker_signal", true},
      {kExitUsage, "usage", {"qualify", "smoke", "--filter", "^no such case$"}, "", "matches no case"},
      {kExitInconclusive, "inconclusive", qualify(kSpared, {"--time-budget", "1e-9"}), "", "time budget",
       true},
      {kExitNotEligible, "not_eligible", qualify(kSpared), "open_not_eligible", "taken by another", true},
      {kExitHardwareFault, "hardware_fault", qualify(kStruck), "device_lost", "1 case met a fault", true},
      {kExitIo, "io", qualify(kSpared, {"--junit", "/dev/full"}), "", "/dev/full", true},
      {kExitHang, "hang", qualify(kStruck, {"--case-timeout", "1"}), "hang", "timeout", true},
      {kExitInternal, "internal", qualify(kSpared), "", "Too many open files", false, allow_few_files},
  };
}

class ExitCodes : public test::CommandLine {};

TEST_F(ExitCodes, EveryRowIsReached) {
  std::set<int> reached;
  for (const auto& row : table()) {
    SCOPED_TRACE(row.name);
    std::filesystem::remove(folder_.path() / "report.json");
    std::filesystem::remove(folder_.path() / "report.journal.jsonl");
    const auto ended = run(row.arguments, {{"BRANCHMARK_TEST_FAULT", row.fault}}, row.prepare);
    test::expect_exit(ended, row.code, {"(" + row.name + ")", row.reason});
    EXPECT_EQ(std::filesystem::exists(folder_.path() / "report.json"), row.has_report);
    if (row.has_report) {
      const auto exit = report().at("exit");
      EXPECT_EQ(exit.at("code"), row.code);
      EXPECT_EQ("branchmark: exit " + std::to_string(row.code) + " (" + exit.at("name").get<std::string>() +
                    "): " + exit.at("reason").get<std::string>(),
                ended.last_line());
    }
    reached.insert(row.code);
  }
  // Those that the tool knows, whatever the table above holds.
  std::set<int> known;
  for (int code = 0; code < kExitSignal; ++code)
    if (code == kExitInternal || exit_name(code) != exit_name(kExitInternal)) known.insert(code);
  EXPECT_EQ(reached, known);
}

// 128 + n
TEST_F(ExitCodes, ASignalIs128AndItsNumber) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    std::filesystem::remove(err_file());
    const auto child = start(qualify(kBoth, {"--force"}), {{"BRANCHMARK_TEST_FAULT", "hang"}}, [] {
      for (const int each : {SIGINT, SIGTERM, SIGHUP}) std::signal(each, SIG_DFL);
    });
    // Once it says that a case has passed, it takes signals itself.
    for (int i = 0; i < 3000 && test::read_whole(err_file()).find("] pass") == std::string::npos; ++i)
      usleep(10'000);
    kill(child, number);
    test::expect_exit(wait(child), 128 + number, {"signal", "SIG"});
    EXPECT_EQ(report().at("exit").at("code"), 128 + number);
    EXPECT_FALSE(report().at("complete").get<bool>());
  }
}

// The README and --help tell the same codes.
TEST_F(ExitCodes, AreAllInTheHelp) {
  const auto help = run({"--help"}).out;
  for (const auto& row : table())
    EXPECT_NE(help.find(" " + std::to_string(row.code) + " "), std::string::npos) << row.name;
  EXPECT_NE(help.find("128+n"), std::string::npos);
}

}  // namespace
}  // namespace branchmark
