// What is printed because it was asked for: a reader that leaves early, and a disk that is full.

#include <csignal>

#include "cli/process.hpp"

namespace branchmark {
namespace {

const std::vector<std::vector<std::string>> kAnswers = {{"--help"},
                                                        {"qualify", "--help"},
                                                        {"--version"},
                                                        {"qualify", "smoke", "--list"},
                                                        {"reference", "markdown"},
                                                        {"reference", "bash"}};

class Answers : public test::CommandLine {
 protected:
  // Stdout becomes a pipe that nobody reads any more.
  static void lose_the_reader() {
    std::signal(SIGPIPE, SIG_DFL);
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) _exit(126);
    close(ends[0]);
    close(ends[1]);
  }
  static void fill_the_disk() {
    const int full = open("/dev/full", O_WRONLY);
    if (full < 0 || dup2(full, STDOUT_FILENO) < 0) _exit(126);
    close(full);
  }
};

// branchmark --help | head -1
TEST_F(Answers, EndQuietlyWithoutAReader) {
  for (const auto& arguments : kAnswers) {
    const auto ended = run(arguments, {}, lose_the_reader);
    EXPECT_EQ(ended.code, 128 + SIGPIPE) << arguments.back();
    EXPECT_EQ(ended.err, "") << arguments.back();
  }
}

// K43
TEST_F(Answers, K43ThatCannotBePrintedAre6) {
  for (const auto& arguments : kAnswers)
    test::expect_exit(run(arguments, {}, fill_the_disk), 6, {"No space left on device"});
}

// An output that was selected with "-" is written in full or is 6, and the report is there all the same.
TEST_F(Answers, AnOutputWithoutAReaderIs6AndLeavesTheReport) {
  test::expect_exit(run({"qualify", "smoke", "--device", "cpu", "--filter", "^operators/op=embed", "--report",
                         "report.json", "--markdown", "-"},
                        {}, lose_the_reader),
                    6, {"output -", "Broken pipe"});
  EXPECT_EQ(report().at("exit").at("code"), 6);
  test::expect_exit(run({"report", "report.json", "--markdown", "-", "--quiet"}, {}, lose_the_reader), 6,
                    {"Broken pipe"});
}

}  // namespace
}  // namespace branchmark
