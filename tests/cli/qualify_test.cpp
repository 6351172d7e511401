// `qualify` from end to end: verdict, report, journal, what goes to stdout and what to stderr.

#include <algorithm>

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class Qualify : public test::CommandLine {};

TEST_F(Qualify, PassesAndWritesWhatItSays) {
  const auto ended =
      run({"qualify", "smoke", "--device", "cpu", "--report", "report.json", "--filter",
           "^(continuation/cut=64|shared_equals_fixed/prefix=65,grouping=prefix_70,graph=off)"});
  expect_exit(ended, 0, {"6 passed"});
  EXPECT_EQ(ended.out, "") << "stdout carries what - selects, and nothing was";
  EXPECT_NE(ended.err.find("report.json"), std::string::npos);
  EXPECT_NE(ended.err.find("PASS"), std::string::npos);
  const auto found = report();
  EXPECT_TRUE(found.at("complete").get<bool>());
  EXPECT_EQ(found.at("exit").at("code"), 0);
  EXPECT_EQ(found.at("model").at("name"), "qwen3.5-smoke");
  EXPECT_TRUE(found.at("kernels").at("abi_version") == 1);
  ASSERT_EQ(found.at("cases").size(), 6u);
  std::int64_t captured = 0;
  for (const auto& one : found.at("cases")) {
    EXPECT_EQ(one.at("outcome"), "pass") << one;
    EXPECT_TRUE(one.at("findings").empty()) << one;
    for (const auto& [name, counter] : one.at("witness").items()) {
      EXPECT_EQ(counter.at("planned"), counter.at("found")) << one.at("key") << " " << name;
      if (name == "states_captured") captured += counter.at("found").get<std::int64_t>();
    }
  }
  EXPECT_GT(captured, 0);
}

TEST_F(Qualify, TheJournalHoldsEveryCaseOfTheReport) {
  write_scenario();
  expect_exit(run({"qualify", "small.json", "--device", "cpu", "--report", "out/report.json", "--filter",
                   "^shared_equals_fixed"}),
              0, {});
  const auto found = report("out/report.json");
  std::ifstream journal(folder_.path() / "out/report.journal.jsonl");
  ASSERT_TRUE(journal.is_open());
  auto journalled = Json::array();
  std::string first, last;
  for (std::string line; std::getline(journal, line); last = line) {
    const auto value = parse_json(line, "journal");
    if (first.empty()) first = value.at("type").get<std::string>();
    if (value.at("type") == "case") journalled.push_back(value.at("case"));
  }
  EXPECT_EQ(first, "header");
  EXPECT_EQ(parse_json(last, "journal").at("type"), "end");
  EXPECT_EQ(journalled, found.at("cases"));
}

TEST_F(Qualify, ListNamesTheVeryCasesThatRun) {
  write_scenario();
  const std::vector<std::string> select = {"small.json", "--device", "cpu", "--filter",
                                           "^(repeated|isolation)"};
  auto list = std::vector<std::string>{"qualify", "--list"};
  list.insert(list.end(), select.begin(), select.end());
  auto go = std::vector<std::string>{"qualify", "--report", "report.json"};
  go.insert(go.end(), select.begin(), select.end());
  const auto listed = run(list);
  expect_exit(listed, 0, {});
  expect_exit(run(go), 0, {});
  std::string keys;
  for (const auto& one : cases()) keys += one.at("key").get<std::string>() + "\n";
  EXPECT_EQ(listed.out, keys);
  EXPECT_EQ(std::count(keys.begin(), keys.end(), '\n'), 8);
}

TEST_F(Qualify, WithoutAReportPathItGoesToAFolderOfTheRun) {
  write_scenario();
  expect_exit(run({"qualify", "small.json", "--device", "cpu", "--filter", "^repeated.*fixed.*packed$"}), 0,
              {});
  std::size_t reports = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path() / "branchmark-out"))
    reports += entry.path().filename() == "report.json" ? 1 : 0;
  EXPECT_EQ(reports, 1u);
}

TEST_F(Qualify, GraphCasesAreSkippedWithAReasonAndCounted) {
  write_scenario();
  const auto ended =
      run({"qualify", "small.json", "--device", "cpu", "--report", "report.json", "--set",
           "execution.graph=[\"off\",\"on\"]", "--filter", "^shared_equals_fixed/prefix=70.*packed$"});
  expect_exit(ended, 0, {"2 passed", "2 skipped (graph_unsupported 2)"});
  std::size_t skipped = 0;
  for (const auto& one : cases()) {
    if (one.at("params").at("graph") != "on") continue;
    EXPECT_EQ(one.at("outcome"), "skipped");
    ++skipped;
  }
  EXPECT_EQ(skipped, 2u);
}

TEST_F(Qualify, GraphCasesRunOnAModuleThatHasThem) {
  write_scenario();
  const auto ended = run({"qualify", "small.json", "--kernels", BRANCHMARK_GRAPH_MODULE, "--device", "cpu",
                          "--report", "report.json", "--set", "execution.graph=[\"on\"]", "--filter",
                          "^(graph_equals_eager|shared_equals_fixed/prefix=70)"});
  expect_exit(ended, 0, {"9 passed"});
  for (const auto& one : cases()) {
    const auto& witness = one.at("witness");
    if (one.at("key").get<std::string>().rfind("shared", 0) == 0) {
      EXPECT_GT(witness.at("graphs_captured").at("found"), 0);
      EXPECT_GT(witness.at("graphs_replayed").at("found"), 0);
    } else {
      EXPECT_EQ(witness.at("captures_and_replays").at("found"), 3);
    }
  }
}

TEST_F(Qualify, MarkdownGoesToStdoutAlone) {
  write_scenario();
  const auto ended = run({"qualify", "small.json", "--device", "cpu", "--report", "report.json", "--markdown",
                          "-", "--quiet", "--filter", "^repeated.*fixed.*packed$"});
  expect_exit(ended, 0, {});
  EXPECT_EQ(ended.out.find('#'), 0u) << ended.out;
  EXPECT_EQ(ended.err.find("\x1b["), std::string::npos) << "stderr is no terminal: no colours";
}

// K41: the run's check is vacuous where no prefix reaches 64 tokens.
TEST_F(Qualify, K41AVacuousCheckIsNoVerdict) {
  write_scenario("short.json", "[0, 1, 50]");
  const auto ended = run({"qualify", "short.json", "--device", "cpu", "--report", "report.json", "--filter",
                          "^shared_equals_fixed"});
  expect_exit(ended, 3, {"shared_equals_fixed", "vacuous"});
  for (const auto& one : cases()) EXPECT_EQ(one.at("outcome"), "pass");
  EXPECT_EQ(report().at("exit").at("code"), 3);
}

TEST_F(Qualify, K40OnlySkippedCasesAreNoVerdict) {
  write_scenario();
  expect_exit(run({"qualify", "small.json", "--device", "cpu", "--filter", "^graph_equals_eager"}), 3,
              {"no case passed"});
}

TEST_F(Qualify, SeveralScenariosGiveTheWorstOfTheirCodes) {
  write_scenario();
  write_scenario("short.json", "[0]");
  const auto ended = run({"qualify", "small.json", "short.json", "--device", "cpu", "--filter",
                          "^shared_equals_fixed.*fixed.*packed$"});
  expect_exit(ended, 3, {"short.json"});
}

}  // namespace
}  // namespace branchmark
