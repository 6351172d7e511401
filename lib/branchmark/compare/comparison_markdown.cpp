#include "branchmark/compare/comparison_markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/compare/differences.hpp"
#include "branchmark/compare/gates.hpp"
#include "branchmark/compare/values_text.hpp"
#include "branchmark/report/escape.hpp"

namespace branchmark {
namespace {

// Rows and differences together; what is left is what the headings and the count of the rest need.
constexpr std::size_t kMaxBytes = 48'000;
constexpr std::size_t kMaxRemarkBytes = 600;

std::string cut(std::string text) {
  if (text.size() <= kMaxRemarkBytes) return text;
  text.resize(kMaxRemarkBytes);
  return text + " ...";
}

// As code in a table cell, where a bar would end the cell and a backtick the code.
std::string code(const std::string& text) {
  std::string out = "`";
  for (const char c : printable(text)) {
    if (c == '|') out += '\\';
    out += c == '`' ? '\'' : c;
  }
  return out + "`";
}

std::string row_text(const CaseComparison& row) {
  const auto* time = row.deciding_time();
  const auto verdict = markdown_escaped(verdict_text(row));
  auto remark = markdown_escaped(cut(remark_text(row)));
  if (time != nullptr && !time->suggestion.empty())
    remark += (remark.empty() ? "" : "<br>") + code(time->suggestion);
  if (row.outputs && !row.outputs->suggestion.empty()) remark += "<br>" + code(row.outputs->suggestion);
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", row.gates.empty() ? verdict : "**" + verdict + "**",
                     markdown_escaped(row.key), time == nullptr ? "" : milliseconds_text(time->a.median_ns),
                     time == nullptr ? "" : milliseconds_text(time->b.median_ns),
                     time == nullptr ? "" : markdown_escaped(ratio_text(*time)), remark);
}

constexpr std::string_view kTableHead =
    "| verdict | case | A ms | B ms | B over A | remarks |\n| --- | --- | --: | --: | --- | --- |\n";

void append_rows(std::string& out, const std::vector<const CaseComparison*>& rows) {
  out += kTableHead;
  std::size_t written = 0;
  for (const auto* row : rows) {
    const auto text = row_text(*row);
    if (out.size() + text.size() > kMaxBytes) break;
    out += text;
    ++written;
  }
  if (written < rows.size()) out += fmt::format("\n{} more rows are in the JSON.\n", rows.size() - written);
}

}  // namespace

std::string markdown_text(const Comparison& comparison) {
  auto out = fmt::format("## compare: {}\n\nExit {}: {}\n\n", markdown_escaped(comparison.exit.name),
                         comparison.exit.code, markdown_escaped(cut(comparison.exit.reason)));
  out += fmt::format("- A: {}\n- B: {}\n", markdown_escaped(side_text(comparison.a)),
                     markdown_escaped(side_text(comparison.b)));
  const auto outputs = comparison.outputs();
  if (outputs.num_prompts > 0)
    out += fmt::format("- outputs byte-identical: {} of {}\n", outputs.num_equal, outputs.num_prompts);
  out += fmt::format(
      "- smallest effect that counts: {:.3g}%{}\n",
      100 * std::max(comparison.min_effect, comparison.noise_floor.value_or(0)),
      comparison.noise_floor ? fmt::format(" (noise floor {:.3g}%)", 100 * *comparison.noise_floor) : "");
  for (const auto& difference : comparison.differences)
    out += fmt::format("- **differs**: {}\n", markdown_escaped(cut(text_of(difference))));

  auto rows = comparison.worst_first();
  const auto plain = std::stable_partition(rows.begin(), rows.end(), [](const CaseComparison* row) {
    return row->verdict != CaseVerdict::same || !row->gates.empty() || !remark_text(*row).empty();
  });
  const std::vector<const CaseComparison*> same(plain, rows.end());
  rows.erase(plain, rows.end());
  if (!rows.empty()) {
    out += "\n";
    append_rows(out, rows);
  }
  if (!same.empty()) {
    out += fmt::format("\n<details><summary>{} the same</summary>\n\n", same.size());
    append_rows(out, same);
    out += "\n</details>\n";
  }
  return out;
}

}  // namespace branchmark
