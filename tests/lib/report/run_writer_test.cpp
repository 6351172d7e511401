#include "branchmark/report/run_writer.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "branchmark/base/error.hpp"
#include "fixture.hpp"

namespace branchmark {
namespace {

class RunWriterTest : public FolderTest {
 protected:
  RunOutputs outputs() const {
    RunOutputs outputs;
    outputs.report = path("out/r.json");
    outputs.junit = path("out/junit.xml");
    outputs.markdown = path("out/r.md");
    return outputs;
  }
};

TEST_F(RunWriterTest, WritesEverything) {
  RunWriter writer(small_report(), outputs());
  EXPECT_EQ(writer.journal_path(), path("out/r.journal.jsonl"));
  writer.report().device.emplace().name = "CPU";
  writer.update();
  writer.record(passing_case());
  // On disk before the case is announced.
  EXPECT_EQ(read_journal(writer.journal_path()).cases.size(), 1u);
  writer.record(failing_case());
  const Exit exit = writer.finish(true);
  EXPECT_EQ(exit.code, 1);
  const Report report = read_report(path("out/r.json"));
  EXPECT_EQ(report.exit, exit);
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.cases.size(), 2u);
  EXPECT_EQ(to_json(read_journal(writer.journal_path())), to_json(report));
  EXPECT_NE(read_file(path("out/junit.xml")).find("<failure"), std::string::npos);
  EXPECT_NE(read_file(path("out/r.md")).find("check\\_failed"), std::string::npos);
  EXPECT_EQ(num_files(), 4u);
}

TEST_F(RunWriterTest, RefusalLeavesEverythingAsItWas) {
  for (const char* name : {"r.json", "r.journal.jsonl", "junit.xml", "r.md"}) {
    std::filesystem::create_directories(path("out"));
    std::ofstream(path("out/") + name) << "old";
    try {
      RunWriter(small_report(), outputs());
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
    }
    EXPECT_EQ(read_file(path("out/") + name), "old");
    EXPECT_EQ(num_files(), 1u);
    std::filesystem::remove(path("out/") + name);
  }
}

TEST_F(RunWriterTest, ReplacesOnRequest) {
  RunWriter(small_report(), outputs()).finish(true);
  RunOutputs again = outputs();
  again.replace = Replace::replace;
  RunWriter writer(small_report(), again);
  EXPECT_FALSE(std::filesystem::exists(path("out/r.json")));
  writer.record(passing_case());
  EXPECT_EQ(writer.finish(true).code, 0);
  EXPECT_EQ(read_report(path("out/r.json")).cases.size(), 1u);
}

TEST_F(RunWriterTest, OnePathForTwoOutputsIsRefused) {
  RunOutputs twice = outputs();
  twice.junit = path("out/../out/r.json");
  EXPECT_THROW(RunWriter(small_report(), twice), Error);
  EXPECT_EQ(num_files(), 0u);
}

// K43
TEST_F(RunWriterTest, K43FullDeviceAsJunitIsExit6AndInTheReport) {
  RunOutputs full = outputs();
  full.junit = "/dev/full";
  RunWriter writer(small_report(), full);
  writer.record(passing_case());
  const Exit exit = writer.finish(true);
  EXPECT_EQ(exit.code, 6);
  EXPECT_NE(exit.reason.find("/dev/full"), std::string::npos);
  EXPECT_EQ(read_report(path("out/r.json")).exit, exit);
}

TEST_F(RunWriterTest, K43FullDeviceAsReportIsExit6AndInTheJournal) {
  RunOutputs full = outputs();
  full.report = "/dev/full";
  full.journal = path("out/j.jsonl");
  RunWriter writer(small_report(), full);
  writer.record(passing_case());
  const Exit exit = writer.finish(true);
  EXPECT_EQ(exit.code, 6);
  EXPECT_EQ(read_journal(path("out/j.jsonl")).exit, exit);
}

TEST_F(RunWriterTest, K43FullDeviceAsJournalFailsBeforeAnyWork) {
  RunOutputs full = outputs();
  full.journal = "/dev/full";
  try {
    RunWriter(small_report(), full);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
  }
  EXPECT_EQ(num_files(), 0u);
}

TEST_F(RunWriterTest, JournalOfAReportWithoutFileHasItsOwnFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  {
    RunOutputs null;
    null.report = "/dev/null";
    RunWriter writer(small_report(), null);
    EXPECT_EQ(writer.journal_path(), "branchmark-out/" + writer.report().run_id + "/report.journal.jsonl");
    RunWriter other(small_report(), {});
    EXPECT_EQ(other.report_path(), "branchmark-out/" + other.report().run_id + "/report.json");
    other.abandon();
    writer.abandon();
  }
  std::filesystem::current_path(before);
  EXPECT_EQ(num_files(), 0u);
}

TEST_F(RunWriterTest, InterruptedRunIsIncomplete) {
  RunWriter writer(small_report(), outputs());
  writer.record(passing_case());
  writer.verdict().add(kExitSignal + 2, "SIGINT");
  EXPECT_EQ(writer.finish(false).code, 130);
  EXPECT_FALSE(read_report(path("out/r.json")).complete);
}

}  // namespace
}  // namespace branchmark
