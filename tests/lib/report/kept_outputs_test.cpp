#include "branchmark/report/kept_outputs.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "branchmark/base/digest.hpp"
#include "branchmark/base/error.hpp"
#include "branchmark/report/journal.hpp"
#include "branchmark/report/output_file.hpp"
#include "branchmark/report/run_writer.hpp"
#include "fixture.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class KeptOutputsTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    make_output_folder(path("outputs"));
  }
  KeptOutputs kept() const { return KeptOutputs(path("outputs")); }
  std::string file(const std::string& digest, const std::string& type = "bf16") const {
    return path("outputs/" + digest + "." + type);
  }

  const std::string text_ = "bytes of an output";
  const std::string digest_ = sha256_hex(text_);
};

TEST_F(KeptOutputsTest, AreNamedByWhatTheyHold) {
  EXPECT_EQ(num_files(), 0u) << "seeing that the folder can be written leaves nothing";
  EXPECT_EQ(kept().folder(), path("outputs"));
  EXPECT_EQ(kept().keep(bytes_of(text_), BMK_BF16), digest_);
  EXPECT_EQ(read_file(file(digest_)), text_);
  EXPECT_EQ(kept().read(digest_, BMK_BF16), text_);
  EXPECT_EQ(kept().read(digest_, BMK_F32), std::nullopt);
  kept().keep(bytes_of(text_), BMK_F32);
  EXPECT_EQ(read_file(file(digest_, "f32")), text_);
  EXPECT_EQ(num_files(), 2u);
}

TEST_F(KeptOutputsTest, WhatIsThereIsLeftAndWhatIsCutOffIsWrittenAnew) {
  kept().keep(bytes_of(text_), BMK_BF16);
  struct stat before {};
  ASSERT_EQ(stat(file(digest_).c_str(), &before), 0);
  kept().keep(bytes_of(text_), BMK_BF16);
  struct stat after {};
  ASSERT_EQ(stat(file(digest_).c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
  fs::resize_file(file(digest_), 3);
  kept().keep(bytes_of(text_), BMK_BF16);
  EXPECT_EQ(read_file(file(digest_)), text_);
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(KeptOutputsTest, OtherBytesThanTheNameSaysAreRefused) {
  for (const auto& other : {std::string("bytes of an outPut"), text_ + "x", text_.substr(1), std::string()}) {
    put("outputs/" + digest_ + ".bf16", other);
    EXPECT_EQ(code_of([&] { kept().read(digest_, BMK_BF16); }), ErrorCode::usage) << other;
  }
}

TEST_F(KeptOutputsTest, WhatIsNoFileIsNotThere) {
  fs::create_directories(file(digest_));
  ASSERT_EQ(mkfifo(file(digest_, "f32").c_str(), 0600), 0);
  EXPECT_EQ(kept().read(digest_, BMK_BF16), std::nullopt);
  EXPECT_EQ(kept().read(digest_, BMK_F32), std::nullopt) << "and no one waits for a pipe";
}

TEST_F(KeptOutputsTest, ADigestIsNoPath) {
  put("secret.bf16", text_);
  for (const auto& digest :
       {std::string("../secret"), std::string(), digest_.substr(1), digest_ + "0", "/" + digest_.substr(1)})
    EXPECT_EQ(kept().read(digest, BMK_BF16), std::nullopt) << digest;
}

TEST_F(KeptOutputsTest, AFolderThatCannotBeWrittenIsToldBefore) {
  put("file", "old");
  EXPECT_EQ(code_of([&] { make_output_folder(path("file")); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { check_output_folder(path("file")); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { make_output_folder("-"); }), ErrorCode::usage);
  EXPECT_EQ(code_of([&] { make_output_folder(path("file/below")); }), ErrorCode::io);
  EXPECT_EQ(code_of([&] { make_output_folder("/proc"); }), ErrorCode::io) << "there, and takes no file";
  EXPECT_EQ(code_of([&] { make_output_folder("/proc/below"); }), ErrorCode::io);
  make_output_folder(path("a/b/c"));
  EXPECT_TRUE(fs::is_directory(path("a/b/c")));
  EXPECT_EQ(read_file(path("file")), "old");
}

// K43: what does not fit is io, and no part of it is left.
TEST_F(KeptOutputsTest, K43AFileSizeLimitIsIo) {
  ignore_write_signals();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit = {8, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(code_of([&] { kept().keep(bytes_of(text_), BMK_BF16); }), ErrorCode::io);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(num_files(), 0u);
}

TEST_F(KeptOutputsTest, AReportNamesTheFolderFromItsOwn) {
  EXPECT_EQ(folder_from_report(path("outputs"), path("r.json")), "outputs");
  EXPECT_EQ(folder_from_report(path("outputs"), path("out/r.json")), "../outputs");
  EXPECT_EQ(folder_from_report(path("outputs"), path("outputs/r.json")), ".");
  EXPECT_EQ(folder_from_report(path("outputs"), "-"), fs::canonical(path("outputs")));
  fs::create_directory_symlink(path("outputs"), path("link"));
  EXPECT_EQ(folder_from_report(path("link"), path("r.json")), "outputs");
}

// The folder as the written report names it, and where it is found from report and journal.
TEST_F(KeptOutputsTest, ARunTellsOfTheFolderInReportAndJournal) {
  const auto run = [&](const std::string& report, const std::string& journal) {
    RunOutputs outputs;
    outputs.report = path(report);
    outputs.journal = path(journal);
    outputs.kept_outputs = path("new/outputs");
    outputs.replace = Replace::replace;
    RunWriter writer(small_report(), outputs);
    EXPECT_TRUE(fs::is_directory(path("new/outputs")));
    writer.record(passing_case());
    writer.finish(true);
    for (const auto& read : {read_report(path(report)), read_journal(path(journal))})
      EXPECT_EQ(fs::canonical(read.kept_outputs.value().resolved), fs::canonical(path("new/outputs")));
    return read_report(path(report)).kept_outputs.value().folder;
  };
  EXPECT_EQ(run("a/r.json", "a/r.journal.jsonl"), "../new/outputs");
  EXPECT_EQ(run("a/r.json", "b/r.journal.jsonl"), fs::canonical(path("new/outputs")));
  RunOutputs outputs;
  outputs.report = path("c/r.json");
  RunWriter writer(small_report(), outputs);
  EXPECT_FALSE(writer.report().kept_outputs.has_value());
  outputs.report = path("d/r.json");
  outputs.kept_outputs = path("d/r.json");
  EXPECT_EQ(code_of([&] { RunWriter(small_report(), outputs); }), ErrorCode::usage) << "one path for two";
}

}  // namespace
}  // namespace branchmark
