#include "branchmark/scenario/scenario.hpp"

#include <algorithm>

#include "branchmark/scenario/words.hpp"

namespace branchmark {
namespace {

template <class Words, class Enum>
std::string_view word_of(const Words& words, Enum value) {
  return words[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view name_of(Numerics value) {
  return word_of(kNumericsWords, value);
}
std::string_view name_of(GdnNumerics value) {
  return word_of(kGdnWords, value);
}
std::string_view name_of(GraphMode value) {
  return word_of(kGraphWords, value);
}
std::string_view name_of(Entry value) {
  return word_of(kEntryWords, value);
}

std::vector<Check> Scenario::selected_checks() const {
  std::vector<Check> selected;
  for (const CheckInfo& info : check_table()) {
    const bool wanted =
        checks ? std::find(checks->begin(), checks->end(), info.check) != checks->end()
               : (prompts || !info.has_need(kNeedsPrompts)) && (reference || !info.has_need(kNeedsReference));
    if (wanted) selected.push_back(info.check);
  }
  return selected;
}

bool Scenario::selects(Check check) const {
  const auto selected = selected_checks();
  return std::find(selected.begin(), selected.end(), check) != selected.end();
}

std::optional<double> reference_bound(const Scenario& scenario, const std::string& case_name) {
  if (scenario.reference) {
    const auto& bounds = scenario.reference->max_relative_l2;
    if (const auto* one = std::get_if<double>(&bounds)) return *one;
    if (const auto* by_case = std::get_if<std::map<std::string, double>>(&bounds))
      if (const auto found = by_case->find(case_name); found != by_case->end()) return found->second;
  }
  return scenario.parity ? scenario.parity->max_relative_l2 : std::nullopt;
}

}  // namespace branchmark
