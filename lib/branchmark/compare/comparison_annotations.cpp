#include "branchmark/compare/comparison_annotations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/compare/differences.hpp"
#include "branchmark/compare/values_text.hpp"
#include "branchmark/report/escape.hpp"

namespace branchmark {
namespace {

constexpr std::size_t kMaxOfSeverity = 9;  // the exit line is the tenth error

std::string gates_text(const CaseComparison& row) {
  std::string text;
  for (const Gate gate : row.gates) text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(gate));
  return text;
}

}  // namespace

std::string github_annotations(const Comparison& comparison) {
  std::string text;
  std::size_t written = 0;
  for (const auto* row : comparison.worst_first()) {
    if (row->gates.empty() || written++ >= kMaxOfSeverity) continue;
    auto message = row->key;
    if (const auto* time = row->deciding_time())
      message += fmt::format(": {} {}", time->metric, ratio_text(*time));
    const auto remark = remark_text(*row);
    if (!remark.empty()) message += "\n" + remark;
    text += github_command("error", "branchmark compare, " + gates_text(*row), message);
  }
  for (std::size_t i = 0; i < std::min(comparison.differences.size(), kMaxOfSeverity); ++i)
    text += github_command("warning", "branchmark compare, sides differ", text_of(comparison.differences[i]));
  text += github_command(comparison.exit.code == kExitOk ? "notice" : "error", "branchmark compare",
                         exit_line(comparison.exit));
  return text;
}

}  // namespace branchmark
