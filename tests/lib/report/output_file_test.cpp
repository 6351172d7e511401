#include "branchmark/report/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "branchmark/base/error.hpp"
#include "fixture.hpp"

namespace branchmark {
namespace {

using OutputFileTest = FolderTest;

TEST_F(OutputFileTest, WholeAppearsOnCommitOnly) {
  OutputFile file = OutputFile::open(path("a/b/r.json"), OutputKind::whole, Replace::refuse);
  file.write("text");
  file.sync();
  EXPECT_FALSE(std::filesystem::exists(path("a/b/r.json")));
  file.commit();
  EXPECT_EQ(read_file(path("a/b/r.json")), "text");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(OutputFileTest, UncommittedLeavesNothing) {
  {
    OutputFile file = OutputFile::open(path("r.json"), OutputKind::whole, Replace::refuse);
    file.write("text");
  }
  EXPECT_EQ(num_files(), 0u);
}

TEST_F(OutputFileTest, ExistingIsRefusedAndKept) {
  put("r.json", "old");
  for (const OutputKind kind : {OutputKind::whole, OutputKind::growing})
    EXPECT_EQ(code_of([&] { OutputFile::open(path("r.json"), kind, Replace::refuse); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { check_output(path("r.json"), Replace::refuse); }), ErrorCode::usage);
  EXPECT_EQ(read_file(path("r.json")), "old");
  EXPECT_EQ(num_files(), 1u);
}

// K43: an old report is never left in place of a new one.
TEST_F(OutputFileTest, K43ReplacedIsGoneFromTheStart) {
  put("r.json", "old");
  OutputFile file = OutputFile::open(path("r.json"), OutputKind::whole, Replace::replace);
  EXPECT_FALSE(std::filesystem::exists(path("r.json")));
  file.write("new");
  file.commit();
  EXPECT_EQ(read_file(path("r.json")), "new");
}

TEST_F(OutputFileTest, WhatAppearedMeanwhileIsKept) {
  OutputFile file = OutputFile::open(path("r.json"), OutputKind::whole, Replace::refuse);
  put("r.json", "other");
  EXPECT_EQ(code_of([&] { file.commit(); }), ErrorCode::io);
  EXPECT_EQ(read_file(path("r.json")), "other");
}

TEST_F(OutputFileTest, PartialOfAKilledRunIsTakenOverThatOfALiveOneRefused) {
  put("r.json.partial", "left over, and longer than what follows");
  OutputFile file = OutputFile::open(path("r.json"), OutputKind::whole, Replace::refuse);
  EXPECT_EQ(code_of([&] { OutputFile::open(path("r.json"), OutputKind::whole, Replace::refuse); }),
            ErrorCode::usage);
  file.write("new");
  file.commit();
  EXPECT_EQ(read_file(path("r.json")), "new");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(OutputFileTest, GrowingStandsAtItsPath) {
  OutputFile file = OutputFile::open(path("j.jsonl"), OutputKind::growing, Replace::refuse);
  file.write("1\n");
  file.sync();
  EXPECT_EQ(read_file(path("j.jsonl")), "1\n");
  file.write("2\n");
  file.commit();
  EXPECT_EQ(read_file(path("j.jsonl")), "1\n2\n");
}

// K43: a device is written in place, never replaced, never refused; a full one is io.
TEST_F(OutputFileTest, K43DevicesAreWrittenInPlace) {
  for (const OutputKind kind : {OutputKind::whole, OutputKind::growing}) {
    EXPECT_TRUE(is_written_in_place("/dev/full"));
    OutputFile full = OutputFile::open("/dev/full", kind, Replace::replace);
    full.write("x");
    EXPECT_EQ(code_of([&] { full.commit(); }), ErrorCode::io);
    OutputFile null = OutputFile::open("/dev/null", kind, Replace::refuse);
    null.write("x");
    null.commit();
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_TRUE(is_written_in_place("-"));
  EXPECT_TRUE(is_written_in_place("/dev/stdout"));
  EXPECT_FALSE(is_written_in_place(path("none")));
}

TEST_F(OutputFileTest, PipesTakeMoreThanTheyHold) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_file(path("pipe")); });
  OutputFile file = OutputFile::open(path("pipe"), OutputKind::whole, Replace::refuse);
  const std::string text(300000, 'x');
  file.write(text);
  file.commit();
  reader.join();
  EXPECT_EQ(received, text);
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
}

TEST_F(OutputFileTest, RedirectedStdoutIsAppendedTo) {
  put("out", "before\n");
  const int saved = dup(STDOUT_FILENO);
  const int target = open(path("out").c_str(), O_WRONLY | O_APPEND);
  dup2(target, STDOUT_FILENO);
  OutputFile file = OutputFile::open("/dev/stdout", OutputKind::whole, Replace::refuse);
  file.write("report\n");
  file.commit();
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(target);
  EXPECT_EQ(read_file(path("out")), "before\nreport\n");
}

TEST_F(OutputFileTest, FoldersAndWhatCannotBeMadeAreIo) {
  put("file", "");
  for (const std::string& name : {path(""), path("file/r.json")})
    EXPECT_EQ(code_of([&] { OutputFile::open(name, OutputKind::whole, Replace::refuse); }), ErrorCode::io)
        << name;
}

// K43: a file-size limit in mid-report leaves no file at its path.
TEST_F(OutputFileTest, K43FileSizeLimitLeavesNothing) {
  ignore_write_signals();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit{1000, before.rlim_max};
  {
    OutputFile file = OutputFile::open(path("r.json"), OutputKind::whole, Replace::refuse);
    file.write(std::string(5000, 'x'));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_EQ(code_of([&] { file.commit(); }), ErrorCode::io);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  }
  EXPECT_EQ(num_files(), 0u);
}

}  // namespace
}  // namespace branchmark
