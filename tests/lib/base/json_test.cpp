#include "branchmark/base/json.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

std::string refusal(std::string_view text) {
  try {
    parse_json(text, "doc");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "";
}

TEST(Json, ReadsEveryKindOfValue) {
  const Json json =
      parse_json(R"({"a": [1, -2, 2.5, "x", true, null, {}], "b": 18446744073709551615})", "doc");
  EXPECT_EQ(json["a"].size(), 7u);
  EXPECT_TRUE(json["a"][0].is_number_integer());
  EXPECT_EQ(json["b"].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
}

TEST(Json, NamesPointerOfDuplicateKey) {
  EXPECT_EQ(refusal(R"({"a": [0, {"b": 1, "b": 2}]})"),
            "doc: at /a/1/b: duplicate key \"b\", expected each key once");
}

TEST(Json, NamesLineAndColumn) {
  const std::string message = refusal("{\n  \"a\": tru\n}");
  EXPECT_NE(message.find("doc: at /a"), std::string::npos) << message;
  EXPECT_NE(message.find("line 2, column"), std::string::npos) << message;
}

TEST(Json, RefusesWhatIsNotStrict) {
  for (const std::string_view text :
       {"", " ", "{", "[1,]", "{\"a\":1,}", "1 2", "NaN", "[Infinity]", "{a:1}", "'a'", "// c\n1", "01",
        "1e999", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\\ud800\"", "\"a\nb\"", "\xef\xbb\xbf{}"})
    EXPECT_NE(refusal(text), "") << text;
  EXPECT_NE(refusal(std::string_view("{}\0x", 4)), "");
}

TEST(Json, RefusesDeepNestingWithoutRecursion) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(parse_json(nested(kMaxJsonDepth), "doc"));
  EXPECT_NE(refusal(nested(kMaxJsonDepth + 1)).find("nested deeper than 64"), std::string::npos);
  EXPECT_NE(refusal(std::string(1000000, '[')), "");
}

TEST(Json, KeepsMessagesShort) {
  EXPECT_LT(refusal("[" + std::string(100000, 'x') + "]").size(), 400u);
}

// Found by a fuzzer: the parser's own message quotes the faulty bytes as they are.
TEST(Json, MessageAboutInvalidUtf8IsValidUtf8) {
  const std::string message = refusal("{\"name\": \"a\xff\"}");
  EXPECT_NE(message.find("invalid string"), std::string::npos) << message;
  EXPECT_EQ(valid_utf8(message), message);
}

TEST(Json, WritesCanonicalText) {
  const Json json =
      parse_json(R"({"b": [1, 2.0, -0.0], "a": {"z": null, "y": "q\"\\\n\u0001"}, "c": []})", "doc");
  EXPECT_EQ(json_text(json, JsonStyle::compact),
            R"({"a":{"y":"q\"\\\n\u0001","z":null},"b":[1,2.0,-0.0],"c":[]})");
  EXPECT_EQ(json_text(json),
            "{\n  \"a\": {\n    \"y\": \"q\\\"\\\\\\n\\u0001\",\n    \"z\": null\n  },\n"
            "  \"b\": [1, 2.0, -0.0],\n  \"c\": []\n}");
}

TEST(Json, WritesNoNanOrInfinity) {
  const Json json = {NAN, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  EXPECT_EQ(json_text(json, JsonStyle::compact), "[null,null,null]");
}

TEST(Json, NumbersRoundTripExactly) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const Json read = parse_json(json_text(Json(value), JsonStyle::compact), "doc");
    ASSERT_TRUE(read.is_number_float());
    ASSERT_EQ(std::bit_cast<std::uint64_t>(read.get<double>()), std::bit_cast<std::uint64_t>(value));
  }
  for (const std::int64_t value : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX})
    EXPECT_EQ(parse_json(json_text(Json(value)), "doc").get<std::int64_t>(), value);
}

// K42: strings of any bytes give valid UTF-8.
TEST(Json, K42OddCharactersStayReadable) {
  EXPECT_EQ(json_quoted("a\xff"
                        "b\xc3"),
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\"");
  EXPECT_EQ(json_quoted("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (int length = static_cast<int>(random() % 12); length > 0; --length)
      bytes += static_cast<char>(random());
    EXPECT_EQ(parse_json(json_quoted(bytes), "doc").get<std::string>(), valid_utf8(bytes));
  }
}

// K42: a decimal comma changes nothing. Skipped where the system has no such locale.
TEST(Json, K42LocaleChangesNothing) {
  const char* found = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"})
    if (!found) found = std::setlocale(LC_ALL, name);
  if (!found) GTEST_SKIP() << "no locale with a decimal comma is installed";
  EXPECT_EQ(json_text(parse_json("[1.5,1e-7]", "doc"), JsonStyle::compact), "[1.5,1e-07]");
  std::setlocale(LC_ALL, "C");
}

TEST(Json, MissingFileIsIo) {
  try {
    read_file("no/such/file.json");
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("no/such/file.json"), std::string::npos);
  }
  EXPECT_THROW(read_file(std::filesystem::temp_directory_path()), Error);
}

}  // namespace
}  // namespace branchmark
