// JSON in and out, strictly: what is read is exactly one value in valid UTF-8 without duplicate keys, what is
// written has sorted keys, shortest round-trip numbers and no NaN or infinity, whatever the locale.
// All functions are thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace branchmark {

using Json = nlohmann::json;

// Deeper nesting than this is refused: no document of this program needs more, and a parser that recursed
// with its input could be made to overflow.
inline constexpr int kMaxJsonDepth = 64;

// Throws usage, naming `origin`, the JSON pointer, line and column, for anything but one strict JSON value.
Json parse_json(std::string_view text, const std::string& origin);

// The whole file. Throws io where it cannot be opened or read in full, usage where it exceeds `max_bytes`.
std::string read_file(const std::filesystem::path& file, std::uint64_t max_bytes = std::uint64_t{1} << 32);

Json read_json_file(const std::filesystem::path& file);

enum class JsonStyle {
  indented,  // two spaces a level, for files that people read
  compact,   // one line, for journal records
};

// Receives the text in pieces, in order.
using JsonSink = std::function<void(std::string_view)>;

// Canonical text without a final newline. Keys are sorted by bytes; arrays of numbers stay on one line; a
// double always shows a point or an
// exponent, so that it stays a double when read; what is not finite becomes null; text that is not UTF-8 has
// its faulty bytes replaced by U+FFFD.
void write_json(const Json& value, JsonStyle style, const JsonSink& sink, int depth = 0);
std::string json_text(const Json& value, JsonStyle style = JsonStyle::indented);
// A quoted JSON string.
std::string json_quoted(std::string_view text);
// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace branchmark
