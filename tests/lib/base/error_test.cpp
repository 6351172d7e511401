#include "branchmark/base/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace branchmark {
namespace {

// Reports hold these words: another word is another format.
TEST(Error, CodesHaveTheWordsOfReports) {
  const std::pair<ErrorCode, const char*> words[] = {
      {ErrorCode::usage, "usage"},
      {ErrorCode::refused, "refused"},
      {ErrorCode::not_eligible, "not_eligible"},
      {ErrorCode::hardware_fault, "hardware_fault"},
      {ErrorCode::io, "io"},
      {ErrorCode::kernel, "kernel"},
      {ErrorCode::unserved_size, "unserved_size"},
      {ErrorCode::non_finite, "non_finite"},
      {ErrorCode::internal, "internal"},
  };
  for (const auto& [code, word] : words) EXPECT_EQ(name_of(code), word);
}

TEST(Error, KeepsCodeMessageAndPlace) {
  const Error error(ErrorCode::io, "the disk is full");
  const int line = __LINE__ - 1;
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_STREQ(error.what(), "the disk is full");
  EXPECT_EQ(error.location().line(), static_cast<unsigned>(line));
  EXPECT_NE(std::string(error.location().file_name()).find("error_test.cpp"), std::string::npos);
}

}  // namespace
}  // namespace branchmark
