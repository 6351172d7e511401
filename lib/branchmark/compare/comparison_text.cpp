#include "branchmark/compare/comparison_text.hpp"

#include <fmt/format.h>

#include "branchmark/compare/differences.hpp"
#include "branchmark/compare/gates.hpp"
#include "branchmark/compare/values_text.hpp"
#include "branchmark/report/escape.hpp"

namespace branchmark {
namespace {

constexpr std::size_t kMaxRows = 16;
constexpr std::size_t kMaxDifferences = 8;

std::string painted(const std::string& text, std::string_view code, Colour colour) {
  return colour == Colour::none ? text : fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string_view colour_of(const CaseComparison& row) {
  if (!row.gates.empty()) return "31";
  return row.verdict == CaseVerdict::same || row.verdict == CaseVerdict::faster ? "32" : "33";
}

// What a reader has not been told to do yet: one of a kind shows how, the other renderings have all.
class Suggestions {
 public:
  std::string text(const CaseComparison& row) {
    std::string lines;
    const auto add = [&](const std::string& suggestion, bool& told) {
      if (suggestion.empty() || told) return;
      told = true;
      lines += fmt::format("  {:<15}-> {}\n", "", printable(suggestion));
    };
    if (const auto* time = row.deciding_time()) add(time->suggestion, times_told_);
    if (row.outputs) add(row.outputs->suggestion, outputs_told_);
    return lines;
  }

 private:
  bool times_told_ = false;
  bool outputs_told_ = false;
};

std::string row_text(const CaseComparison& row, Suggestions& suggestions, Colour colour) {
  auto text = "  " + painted(fmt::format("{:<15}", verdict_text(row)), colour_of(row), colour);
  const auto* time = row.deciding_time();
  text += time == nullptr ? fmt::format("{:>42}  ", "")
                          : fmt::format("{:>10} {:>10} {:>21}  ", milliseconds_text(time->a.median_ns),
                                        milliseconds_text(time->b.median_ns), ratio_text(*time));
  text += printable(row.key);
  if (time != nullptr) text += " " + printable(time->metric);
  text += "\n";
  const auto remark = remark_text(row);
  if (!remark.empty()) text += fmt::format("  {:<15}{}\n", "", printable(remark));
  return text + suggestions.text(row);
}

// A row that a reader need not see: the same in every respect.
bool is_plain(const CaseComparison& row) {
  return row.verdict == CaseVerdict::same && remark_text(row).empty() && row.gates.empty();
}

std::string rows_text(const Comparison& comparison, Colour colour) {
  std::string text;
  std::size_t shown = 0;
  std::size_t left = 0;
  Suggestions suggestions;
  for (const auto* row : comparison.worst_first()) {
    if (is_plain(*row)) continue;
    if (shown == kMaxRows) {
      ++left;
      continue;
    }
    if (shown++ == 0)
      text += fmt::format("\n  {:<15}{:>10} {:>10} {:>21}  {}\n", "", "A ms", "B ms", "B over A", "case");
    text += row_text(*row, suggestions, colour);
  }
  if (left > 0) text += fmt::format("  {} more rows are in the JSON (--report) and Markdown\n", left);
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, Colour colour) {
  auto text =
      fmt::format("\nA  {}\nB  {}\n", printable(side_text(comparison.a)), printable(side_text(comparison.b)));
  std::size_t shown = 0;
  for (const auto& difference : comparison.differences) {
    if (shown++ == kMaxDifferences) {
      text += fmt::format("   {} more differences\n", comparison.differences.size() - kMaxDifferences);
      break;
    }
    text += fmt::format("   {} {}\n", painted("differs", "33", colour), printable(text_of(difference)));
  }
  text += rows_text(comparison, colour);
  const auto outputs = outputs_text(comparison.outputs());
  text += fmt::format("\n{}{}; what counts is {:.3g}% or more\n", outputs.empty() ? "" : outputs + "; ",
                      tally(comparison),
                      100 * std::max(comparison.min_effect, comparison.noise_floor.value_or(0)));
  return text;
}

}  // namespace branchmark
