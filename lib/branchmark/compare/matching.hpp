// Which case of side A is which of side B.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "branchmark/compare/side.hpp"

namespace branchmark {

struct MatchedCase {
  std::string key;  // as B names it, where B has it
  std::optional<std::string> renamed_from;
  const SideCase* a = nullptr;  // null: B alone has it
  const SideCase* b = nullptr;  // null: A alone has it
};

// By key. A case of A alone and one of B alone are one that was renamed where the check is the same, one has
// all parameters of the other and more, the outputs are the same, and no other pair could be meant. In order
// of `key`.
std::vector<MatchedCase> match_cases(const Side& a, const Side& b);

}  // namespace branchmark
