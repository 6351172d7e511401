// The model's entry points as a table: what the contract says each admits, and a call that runs a request by
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "branchmark/base/error.hpp"
#include "branchmark/verify/session.hpp"

namespace branchmark {

struct EntryPoint {
  std::string name;  // as its own refusals begin
  // Else merged weights with default numerics alone. Stated here and not taken from the guard, which this
  // table is held against.
  bool admits_every_profile = false;
  // Rows of each prompt of the request, in its order: all of them, or as many of the last as it returns.
  std::function<std::vector<HiddenRows>(Model&, const Request&)> call;

  bool admits(const Profile& profile) const { return admits_every_profile || profile == Profile{}; }
};

const std::vector<EntryPoint>& entry_points();

// A call of an entry point, with what it asked of the kernel module.
struct Attempt {
  std::vector<HiddenRows> rows;
  std::optional<Error> error;  // what ended it
  std::int64_t module_calls = 0;
  std::int64_t allocations = 0;
  std::int64_t buffers_left = 0;  // live after it, beyond those before

  bool refused() const { return error && error->code() == ErrorCode::refused; }
};

Attempt attempt(const EntryPoint& entry_point, Model& model, const Request& request);

// Why this is no refusal as the contract has it (before any module call and any allocation, naming the entry
// point and each deviation of the profile); empty where it is one.
std::string fault_of_refusal(const Attempt& attempt, const EntryPoint& entry_point, const Profile& profile);

}  // namespace branchmark
