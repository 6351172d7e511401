// `report`: renders a report, or rebuilds one from a journal.

#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class ReportCommand : public test::CommandLine {
 protected:
  // r.json and r.journal.jsonl, of a run with cases that passed and one that did not.
  void make_report() {
    expect_exit(run({"qualify", "smoke", "--kernels", BRANCHMARK_PROCESS_FAULTS_MODULE, "--level", "quick",
                     "--report", "r.json", "--filter",
                     "^operators/op=(embed,|silu_mul,fact=accuracy,numerics=default,rows=257,columns=768)"},
                    {{"BRANCHMARK_TEST_FAULT", "segfault"}}),
                1, {});
  }
  std::string text(const std::string& name) const { return test::read_whole(folder_.path() / name); }
};

TEST_F(ReportCommand, RendersEveryForm) {
  make_report();
  const auto ended = run({"report", "r.json", "--report", "again.json", "--junit", "r.xml", "--markdown",
                          "r.md", "--annotations", "github"});
  expect_exit(ended, 0, {"r.json", "5 cases", "exit 1 (check_failed)"});
  EXPECT_NE(ended.err.find("worker_signal"), std::string::npos) << "the text for people";
  EXPECT_EQ(text("again.json"), text("r.json")) << "reading and writing change nothing";
  EXPECT_NE(text("r.xml").find("errors=\"1\""), std::string::npos);
  EXPECT_NE(text("r.md").find("SIGSEGV"), std::string::npos);
  EXPECT_EQ(ended.out.find("::error title=branchmark qualify smoke%2C worker_signal::operators/op=silu_mul"),
            0u)
      << ended.out;
  EXPECT_NE(ended.out.find("\n::error title=branchmark qualify smoke::branchmark: exit 1"), std::string::npos)
      << ended.out;
}

TEST_F(ReportCommand, AJournalGivesTheReportOfItsRun) {
  make_report();
  expect_exit(run({"report", "--from-journal", "r.journal.jsonl", "--report", "rebuilt.json"}), 0, {});
  EXPECT_EQ(text("rebuilt.json"), text("r.json"));
}

TEST_F(ReportCommand, ACutJournalGivesAnIncompleteReport) {
  make_report();
  auto journal = text("r.journal.jsonl");
  const auto third = journal.find("{\"case\"", journal.find("{\"case\"", journal.find("{\"case\"") + 1) + 1);
  ASSERT_NE(third, std::string::npos);
  folder_.write("cut.jsonl", journal.substr(0, third + 40));
  const auto ended = run({"report", "--from-journal", "cut.jsonl", "--report", "-", "--quiet"});
  expect_exit(ended, 0, {"2 cases", "did not end"});
  const auto rebuilt = parse_json(ended.out, "stdout");
  EXPECT_FALSE(rebuilt.at("complete").get<bool>());
  EXPECT_TRUE(rebuilt.at("exit").is_null());
  EXPECT_FALSE(rebuilt.at("null_reasons").at("exit").get<std::string>().empty());
  ASSERT_EQ(rebuilt.at("cases").size(), 2u);
  const auto annotated = run({"report", "--from-journal", "cut.jsonl", "--annotations", "github"});
  EXPECT_NE(annotated.out.find("::warning title=branchmark qualify smoke::unfinished"), std::string::npos);
}

TEST_F(ReportCommand, WrongUsageIs2) {
  make_report();
  folder_.write("text.json", "no report");
  folder_.write("empty.jsonl", "");
  expect_exit(run({"report"}), 2, {"--from-journal"});
  expect_exit(run({"report", "r.json", "--from-journal", "r.journal.jsonl"}), 2, {"either"});
  expect_exit(run({"report", "text.json"}), 2, {"text.json"});
  expect_exit(run({"report", "--from-journal", "empty.jsonl"}), 2, {"empty.jsonl", "header"});
  expect_exit(run({"report", "--from-journal", "r.json"}), 2, {"r.json"});
  expect_exit(run({"report", "missing.json"}), 6, {"missing.json"});
  expect_exit(run({"report", "r.json", "--junit", "r.journal.jsonl"}), 2, {"--force"});
  expect_exit(run({"report", "r.json", "--markdown", "-", "--report", "-"}), 2, {"two outputs"});
  expect_exit(run({"report", "r.json", "--markdown", "-", "--annotations", "github"}), 2, {"two outputs"});
  expect_exit(run({"report", "r.json", "--annotations", "gitlab"}), 2, {"--annotations"});
  expect_exit(run({"report", "r.json", "--junit", "/dev/full"}), 6, {"/dev/full"});
  EXPECT_FALSE(text("r.journal.jsonl").empty());
}

// K48: they would fill the memory before their text is looked at.
TEST_F(ReportCommand, K48ADeviceWithoutEndIsRefusedAtOnce) {
  const auto little_memory = [] {
    const rlimit bytes = {rlim_t{1} << 30, rlim_t{1} << 30};
    setrlimit(RLIMIT_AS, &bytes);
  };
  for (const char* device : {"/dev/zero", "/dev/full"}) {
    expect_exit(run({"report", device}, {}, little_memory), 2, {device, "expected a file"});
    expect_exit(run({"report", "--from-journal", device}, {}, little_memory), 2, {device, "header"});
    expect_exit(run({"compare", device, device}, {}, little_memory), 2, {device, "expected a file"});
    expect_exit(run({"plan", device}, {}, little_memory), 2, {device, "expected a file"});
  }
}

// K46
TEST_F(ReportCommand, K46ANewerMinorVersionIsReadAndANewerMajorRefused) {
  const std::string examples = BRANCHMARK_SOURCE_DIR "/results-schema/examples/";
  expect_exit(run({"report", examples + "report/valid/newer_minor.json"}), 0, {});
  expect_exit(run({"report", examples + "report/invalid/newer_major.json"}), 2, {"major version 1"});
  expect_exit(run({"report", "--from-journal", examples + "journal/valid/newer_minor.jsonl"}), 0, {});
  expect_exit(run({"report", "--from-journal", examples + "journal/invalid/newer_major.jsonl"}), 2,
              {"major version 1"});
}

TEST_F(ReportCommand, ARunWritesTheSameAnnotations) {
  const auto ended = run({"qualify", "smoke", "--device", "cpu", "--level", "quick", "--filter",
                          "^operators/op=embed", "--report", "r.json", "--annotations", "github"});
  expect_exit(ended, 0, {});
  EXPECT_EQ(ended.out.find("::notice title=branchmark qualify smoke::branchmark: exit 0 (ok)"), 0u)
      << ended.out;
  EXPECT_EQ(run({"report", "r.json", "--annotations", "github"}).out, ended.out);
}

// 100,000 records in under 500 MB and 20 s.
TEST_F(ReportCommand, RebuildsALongJournalInLittleMemoryAndTime) {
  make_report();
  const auto journal = text("r.journal.jsonl");
  const auto header = journal.substr(0, journal.find('\n') + 1);
  const auto begin = journal.find("{\"case\"");
  const auto record = parse_json(journal.substr(begin, journal.find('\n', begin) - begin), "record");
  constexpr int kRecords = 100'000;
  {
    std::ofstream file(folder_.path() / "long.jsonl", std::ios::binary);
    file << header;
    auto copy = record;
    const auto key = record.at("case").at("key").get<std::string>();
    for (int i = 0; i < kRecords; ++i) {
      copy["case"]["key"] = key + ",copy=" + std::to_string(i);
      copy["case"]["params"]["copy"] = i;
      file << json_text(copy, JsonStyle::compact) << "\n";
    }
  }
  const auto start_time = std::chrono::steady_clock::now();
  const auto child = start(
      {"report", "--from-journal", "long.jsonl", "--report", "long.json", "--junit", "long.xml", "--quiet"});
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_time;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << test::read_whole(err_file());
  EXPECT_NE(test::read_whole(err_file()).find("100000 cases"), std::string::npos);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(usage.ru_maxrss, 500'000) << "KiB";
  EXPECT_LT(seconds.count(), 20);
#endif
}

}  // namespace
}  // namespace branchmark
