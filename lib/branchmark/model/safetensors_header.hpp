// The JSON header of a safetensors file, read as hostile input: a state machine over the parser's events, so
// that what is kept is the table alone, at most two levels deep, whatever the text holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace branchmark {

struct HeaderEntry {
  std::string type;  // as written: "BF16", "F32", ...
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // of the data section, bytes
  std::uint64_t end = 0;
};

// Throws usage, `origin` naming the file, for text that is no such header: not a JSON object, a duplicate or
// unknown key, numbers that are negative, fractional or past 2^63 − 1, ranges that overlap, leave holes or do
// not cover the `data_bytes` of the data section exactly (which is what the format asks for), and sizes that
// do not follow from type and shape for the types whose width is known here (BF16, F32, I64).
std::map<std::string, HeaderEntry> parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                                            const std::string& origin);

}  // namespace branchmark
