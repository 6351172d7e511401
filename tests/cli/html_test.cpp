// --html of the commands: where the page goes, and what stands in its way.

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class Html : public test::CommandLine {
 protected:
  test::Ended bench(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"bench",
                                          "bench-smoke",
                                          "--device",
                                          "cpu",
                                          "--no-cache",
                                          "--set",
                                          "bench.target_interval=1",
                                          "--set",
                                          "bench.min_samples=6",
                                          "--filter",
                                          "single/tokens=128|ceiling"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::string text(const std::string& name) const { return test::read_whole(folder_.path() / name); }
};

TEST_F(Html, BenchWritesAPageThatReportGivesAgain) {
  expect_exit(bench({"--report", "r.json", "--html", "r.html"}), 0, {"passed"});
  EXPECT_EQ(text("r.html").find("<!DOCTYPE html>\n"), 0u);
  EXPECT_NE(text("r.html").find("One pass, by prompt length"), std::string::npos);
  const auto again = run({"report", "r.json", "--html", "-", "--quiet"});
  expect_exit(again, 0, {});
  EXPECT_EQ(again.out, text("r.html"));
}

TEST_F(Html, AnExistingPageStaysUnlessForced) {
  folder_.write("r.html", "mine");
  expect_exit(bench({"--report", "r.json", "--html", "r.html"}), 2, {"r.html"});
  EXPECT_EQ(text("r.html"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "r.json")) << "nothing was begun";
  expect_exit(bench({"--dry-run", "--html", "r.html"}), 2, {"r.html"});
  expect_exit(bench({"--report", "r.json", "--html", "r.html", "--force"}), 0, {});
  EXPECT_EQ(text("r.html").find("<!DOCTYPE html>"), 0u);
  expect_exit(run({"report", "r.json", "--html", "r.html"}), 2, {"r.html"});
}

TEST_F(Html, OnePathForTwoOutputsIsRefused) {
  expect_exit(bench({"--report", "r.json", "--markdown", "same", "--html", "same"}), 2, {"same"});
}

TEST_F(Html, OtherCommandsHaveTheirPage) {
  write_scenario();
  expect_exit(run({"qualify", "small.json", "--level", "quick", "--filter", "continuation", "--report",
                   "q.json", "--html", "q.html"}),
              0, {});
  EXPECT_NE(text("q.html").find("Every case, worst first"), std::string::npos);
  expect_exit(bench({"--report", "r.json"}), 0, {});
  expect_exit(run({"compare", "r.json", "r.json", "--cross", "--html", "c.html", "--quiet"}), 0, {});
  EXPECT_NE(text("c.html").find("Samples of both sides"), std::string::npos);
  expect_exit(run({"compare", "r.json", "r.json", "--cross", "--html", "c.html", "--quiet"}), 2, {"c.html"});
}

}  // namespace
}  // namespace branchmark
