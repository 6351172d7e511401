#include "branchmark/compare/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "branchmark/base/error.hpp"
#include "branchmark/compare/values_text.hpp"

namespace branchmark {
namespace {

constexpr std::array kAllGates = {Gate::slower,  Gate::outputs, Gate::counters,
                                  Gate::missing, Gate::added,   Gate::inconclusive};

void add_once(std::vector<Gate>& gates, Gate gate) {
  if (std::find(gates.begin(), gates.end(), gate) == gates.end()) gates.push_back(gate);
}

bool has(const std::vector<Gate>& gates, Gate gate) {
  return std::find(gates.begin(), gates.end(), gate) != gates.end();
}

const TimeComparison* slower_time(const CaseComparison& row) {
  const auto found = std::find_if(row.times.begin(), row.times.end(), [](const TimeComparison& time) {
    return time.verdict == CaseVerdict::slower;
  });
  return found == row.times.end() ? nullptr : &*found;
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {} {}", count, count == 1 ? "case" : "cases", what);
}

// What one gate says, from the rows that do not pass it.
std::string gate_text(Gate gate, const Comparison& comparison) {
  const auto rows = comparison.worst_first();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto* row) { return has(row->gates, gate); });
  if (found == rows.end()) return "";
  const auto count = comparison.count(gate);
  const auto* first = *found;
  switch (gate) {
    case Gate::slower: {
      const auto& time = *slower_time(*first);
      return fmt::format("{}, first {} ({} {})", counted(count, "slower"), first->key, time.metric,
                         ratio_text(time));
    }
    case Gate::outputs:
      return fmt::format("{}, first {} (equal {} of {})", counted(count, "with changed outputs"), first->key,
                         first->outputs->num_equal, first->outputs->num_prompts);
    case Gate::counters:
      return fmt::format("{}, first {} ({})", counted(count, "with changed counters"), first->key,
                         counter_text(first->counters.front()));
    case Gate::missing:
      return fmt::format("{}, first {} ({})", counted(count, "missing or newly failing"), first->key,
                         first->b ? name_of(first->b->outcome) : "missing");
    case Gate::added:
      return fmt::format("{}, first {}", counted(count, "new"), first->key);
    case Gate::inconclusive:
      return fmt::format("{}, first {}", counted(count, "inconclusive"), first->key);
  }
  return "";
}

}  // namespace

std::vector<Gate> gates_from(const std::vector<std::string>& words) {
  std::vector<Gate> gates;
  for (const auto& word : words) {
    if (word == "none") continue;
    if (word == "changed") {
      add_once(gates, Gate::outputs);
      add_once(gates, Gate::counters);
      continue;
    }
    const auto* const found =
        std::find_if(kAllGates.begin(), kAllGates.end(), [&](Gate gate) { return name_of(gate) == word; });
    if (found == kAllGates.end())
      throw Error(ErrorCode::usage,
                  fmt::format("--fail-on: found \"{}\", expected slower, changed (outputs and counters), "
                              "outputs, counters, missing, new, inconclusive or none",
                              word));
    add_once(gates, *found);
  }
  return gates;
}

std::vector<Gate> gates_of(const CaseComparison& row, const std::vector<Gate>& asked) {
  const auto fails = [&](Gate gate) {
    switch (gate) {
      case Gate::slower:
        return slower_time(row) != nullptr;
      case Gate::outputs:
        return row.outputs_changed();
      case Gate::counters:
        return !row.counters.empty();
      case Gate::missing:
        return row.verdict == CaseVerdict::missing || row.newly_failing;
      case Gate::added:
        return row.verdict == CaseVerdict::added;
      case Gate::inconclusive:
        return row.verdict == CaseVerdict::inconclusive;
    }
    return false;
  };
  std::vector<Gate> gates;
  for (const Gate gate : kAllGates)
    if (has(asked, gate) && fails(gate)) gates.push_back(gate);
  return gates;
}

std::string outputs_text(const OutputComparison& outputs) {
  if (outputs.num_prompts == 0) return "";
  return fmt::format("outputs equal {} of {}", outputs.num_equal, outputs.num_prompts);
}

std::string tally(const Comparison& comparison) {
  std::string text;
  for (int i = kNumCaseVerdicts - 1; i >= 0; --i) {
    const auto verdict = static_cast<CaseVerdict>(i);
    const auto count = comparison.count(verdict);
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(verdict));
  }
  return text;
}

Exit decide_exit(const Comparison& comparison) {
  std::string failures;
  for (const Gate gate : kAllGates) {
    if (gate == Gate::inconclusive) continue;
    const auto text = gate_text(gate, comparison);
    if (!text.empty()) failures += (failures.empty() ? "" : "; ") + text;
  }
  auto rest = outputs_text(comparison.outputs());
  rest += (rest.empty() ? "" : "; ") + tally(comparison);
  const auto with_rest = [&](const std::string& text) { return text.empty() ? rest : text + "; " + rest; };
  if (!failures.empty()) return make_exit(kExitCheckFailed, with_rest(failures));
  const auto open = gate_text(Gate::inconclusive, comparison);
  if (!open.empty()) return make_exit(kExitInconclusive, with_rest(open));
  const bool decided =
      std::any_of(comparison.cases.begin(), comparison.cases.end(), [](const CaseComparison& row) {
        return row.verdict == CaseVerdict::slower || row.verdict == CaseVerdict::faster ||
               row.verdict == CaseVerdict::same;
      });
  if (!decided) return make_exit(kExitInconclusive, with_rest("no case got a verdict"));
  return make_exit(kExitOk, with_rest(""));
}

}  // namespace branchmark
