#include "branchmark/compare/matching.hpp"

#include <algorithm>
#include <map>

namespace branchmark {
namespace {

using Cases = std::map<std::string, const SideCase*>;

bool holds_all(const Parameters& larger, const Parameters& smaller) {
  return std::all_of(smaller.begin(), smaller.end(), [&](const auto& parameter) {
    return std::find(larger.begin(), larger.end(), parameter) != larger.end();
  });
}

bool may_be_renamed(const SideCase& a, const SideCase& b) {
  return a.check == b.check && a.records.front()->digests == b.records.front()->digests &&
         (holds_all(a.parameters, b.parameters) || holds_all(b.parameters, a.parameters));
}

// The only entry that may be the same case under another key; null for none and for several.
const Cases::value_type* only_candidate(const SideCase& wanted, const Cases& cases) {
  const Cases::value_type* found = nullptr;
  for (const auto& entry : cases) {
    if (!may_be_renamed(wanted, *entry.second)) continue;
    if (found != nullptr) return nullptr;
    found = &entry;
  }
  return found;
}

}  // namespace

std::vector<MatchedCase> match_cases(const Side& a, const Side& b) {
  std::vector<MatchedCase> matched;
  Cases only_a, only_b;
  for (const auto& [key, found] : a.cases()) {
    const auto other = b.cases().find(key);
    if (other != b.cases().end())
      matched.push_back({key, std::nullopt, &found, &other->second});
    else
      only_a.emplace(key, &found);
  }
  for (const auto& [key, found] : b.cases())
    if (!a.cases().contains(key)) only_b.emplace(key, &found);
  for (const auto& [key, found] : only_a) {
    const auto* other = only_candidate(*found, only_b);
    const auto* back = other == nullptr ? nullptr : only_candidate(*other->second, only_a);
    if (back != nullptr && back->first == key)
      matched.push_back({other->first, key, found, other->second});
    else
      matched.push_back({key, std::nullopt, found, nullptr});
  }
  for (const auto& [key, found] : only_b) {
    const auto* other = only_candidate(*found, only_a);
    if (other == nullptr || only_candidate(*other->second, only_b) == nullptr)
      matched.push_back({key, std::nullopt, nullptr, found});
  }
  std::sort(matched.begin(), matched.end(),
            [](const MatchedCase& x, const MatchedCase& y) { return x.key < y.key; });
  return matched;
}

}  // namespace branchmark
