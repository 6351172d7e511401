#include "branchmark/base/json_view.hpp"

#include <gtest/gtest.h>

#include <array>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

const Json& document() {
  static const Json json = parse_json(
      R"({"n": 3, "whole": 4.0, "half": 4.5, "s": "text", "bell": "a\u0007", "list": [1, 1.0], "big": 18446744073709551615,
          "a/b~c": {"x": 1}, "b": true})",
      "doc");
  return json;
}

JsonView root() {
  return JsonView(document(), "doc");
}

template <class Read>
std::string refusal(Read read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "";
}

TEST(JsonView, NamesPlaceFoundAndWanted) {
  EXPECT_EQ(refusal([] { root().at("n").integer(4, 9); }),
            "doc: at /n: found 3, expected a whole number from 4 to 9");
  EXPECT_EQ(refusal([] { root().at("missing"); }), "doc: at /missing: missing, expected this key");
  EXPECT_EQ(refusal([] { root().at("s").boolean(); }), "doc: at /s: found \"text\", expected true or false");
  EXPECT_EQ(refusal([] { root().items(); }).substr(0, 16), "doc: at the root");
}

TEST(JsonView, EscapesPointers) {
  EXPECT_EQ(refusal([] {
              root().at("a/b~c").only({"y", "z"});
            }),
            "doc: at /a~1b~0c/x: unknown key, expected one of y, z");
}

TEST(JsonView, WholeNumbersMayShowAPoint) {
  EXPECT_EQ(root().at("whole").integer(0, 10), 4);
  EXPECT_NE(refusal([] { root().at("half").integer(0, 10); }), "");
  EXPECT_NE(refusal([] { root().at("big").integer(0, INT64_MAX); }), "");
  EXPECT_NE(refusal([] { root().at("b").integer(0, 10); }), "");
}

TEST(JsonView, EqualNumbersAreNotDistinct) {
  EXPECT_EQ(refusal([] { root().at("list").distinct_items(); }),
            "doc: at /list/1: found 1.0, expected a value other than element 0's");
}

TEST(JsonView, LabelsHaveNoControlCharacters) {
  EXPECT_EQ(root().at("s").label(), "text");
  EXPECT_NE(refusal([] { root().at("bell").label(); }), "");
}

TEST(JsonView, Words) {
  static constexpr std::array<std::string_view, 2> kWords = {"other", "text"};
  EXPECT_EQ(root().at("s").word(kWords), 1u);
  EXPECT_NE(refusal([] { root().at("bell").word(kWords); }).find("one of \"other\", \"text\""),
            std::string::npos);
}

}  // namespace
}  // namespace branchmark
