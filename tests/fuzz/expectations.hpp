// What every fuzzer holds a reader to: it accepts, or it refuses in words that a report can carry.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"

namespace branchmark::fuzz {

// Ends the process, which the fuzzer takes for a finding and keeps the input of.
inline void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Runs a reader over an input. A refusal must be one of the input, in valid UTF-8; any other exception ends
// the process.
template <class Read>
void expect_read_or_refused(Read&& read) {
  try {
    read();
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::usage, "a refusal of an input has the code usage");
    expect(valid_utf8(error.what()) == error.what(), "the message of a refusal is valid UTF-8");
  }
}

}  // namespace branchmark::fuzz
