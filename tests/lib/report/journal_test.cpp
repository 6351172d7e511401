#include "branchmark/report/journal.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "branchmark/base/error.hpp"
#include "fixture.hpp"

namespace branchmark {
namespace {

class JournalTest : public FolderTest {
 protected:
  JournalWriter open(const Report& report) {
    return JournalWriter(OutputFile::open(path("j.jsonl"), OutputKind::growing, Replace::replace), report);
  }
};

TEST_F(JournalTest, RebuildsTheReport) {
  Report report = small_report();
  JournalWriter journal = open(report);
  report.device.emplace().name = "CPU";
  journal.update(report);
  for (const CaseRecord& record : {passing_case(), failing_case(), skipped_case()}) {
    journal.record(record);
    report.cases.push_back(record);
  }
  report.exit = make_exit(kExitCheckFailed, "x");
  report.complete = true;
  journal.end(report);
  journal.close();
  EXPECT_EQ(to_json(read_journal(path("j.jsonl"))), to_json(report));
}

// K44: whatever byte the run was cut at, every finished record is there.
TEST_F(JournalTest, K44CutAnywhere) {
  const Report report = small_report();
  std::vector<std::size_t> ends;
  {
    JournalWriter journal = open(report);
    ends.push_back(std::filesystem::file_size(path("j.jsonl")));
    for (int i = 0; i < 5; ++i) {
      journal.record(passing_case(i));
      ends.push_back(std::filesystem::file_size(path("j.jsonl")));
    }
  }
  const std::string text = read_file(path("j.jsonl"));
  for (std::size_t cut = 0; cut <= text.size(); cut += 7) {
    std::ofstream(path("cut.jsonl"), std::ios::binary) << text.substr(0, cut);
    const auto whole =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), cut) - ends.begin());
    if (whole == 0) {
      EXPECT_THROW(read_journal(path("cut.jsonl")), Error);
      continue;
    }
    const Report rebuilt = read_journal(path("cut.jsonl"));
    ASSERT_EQ(rebuilt.cases.size(), whole - 1);
    EXPECT_FALSE(rebuilt.complete);
    EXPECT_FALSE(rebuilt.exit);
    for (std::size_t i = 0; i + 1 < whole; ++i)
      EXPECT_EQ(to_json(rebuilt.cases[i]), to_json(passing_case(static_cast<std::int64_t>(i))));
  }
}

TEST_F(JournalTest, CasesAfterAnEndReopenTheRun) {
  Report report = small_report();
  report.complete = true;
  JournalWriter journal = open(report);
  journal.end(report);
  EXPECT_TRUE(read_journal(path("j.jsonl")).complete);
  journal.record(passing_case());
  EXPECT_FALSE(read_journal(path("j.jsonl")).complete);
}

TEST_F(JournalTest, MissingIsIoMalformedIsUsageWithItsLine) {
  const auto message = [&](ErrorCode code) -> std::string {
    try {
      read_journal(path("j.jsonl"));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(ErrorCode::io), "");
  { open(small_report()); }
  std::ofstream(path("j.jsonl"), std::ios::app) << "garbage\n";
  EXPECT_NE(message(ErrorCode::usage).find("j.jsonl:2: "), std::string::npos);
}

// K43: a header that cannot be written leaves no journal behind.
TEST_F(JournalTest, K43FullDeviceIsIo) {
  EXPECT_THROW(
      JournalWriter(OutputFile::open("/dev/full", OutputKind::growing, Replace::refuse), small_report()),
      Error);
}

}  // namespace
}  // namespace branchmark
