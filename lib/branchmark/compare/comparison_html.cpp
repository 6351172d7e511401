#include "branchmark/compare/comparison_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "branchmark/compare/comparison_html_figures.hpp"
#include "branchmark/compare/gates.hpp"
#include "branchmark/compare/values_text.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/page.hpp"

namespace branchmark {
namespace {

using html::Align;
using html::Markup;
using html::Section;
using html::Table;

html::Tone tone_of(const CaseComparison& row) {
  if (!row.gates.empty() || row.verdict == CaseVerdict::slower || row.verdict == CaseVerdict::missing)
    return html::Tone::bad;
  if (row.verdict == CaseVerdict::same || row.verdict == CaseVerdict::faster) return html::Tone::good;
  return html::Tone::doubtful;
}

std::vector<html::Tile> tiles_of(const Comparison& comparison) {
  std::vector<html::Tile> tiles;
  const auto outputs = comparison.outputs();
  if (outputs.num_prompts > 0)
    tiles.push_back(
        {fmt::format("{} of {}", outputs.num_equal, outputs.num_prompts), "outputs have the same bytes"});
  for (int i = 0; i < kNumCaseVerdicts; ++i) {
    const auto verdict = static_cast<CaseVerdict>(i);
    const auto count = comparison.count(verdict);
    if (count > 0 || verdict == CaseVerdict::slower)
      tiles.push_back({fmt::format("{}", count), verdict_word(verdict)});
  }
  return tiles;
}

std::optional<Section> differences_section(const Comparison& comparison) {
  if (comparison.differences.empty()) return std::nullopt;
  Table table{.title = "What differs beside the cases",
              .columns = {{"what", Align::text},
                          {"A", Align::text},
                          {"B", Align::text},
                          {"why it matters", Align::text}},
              .rows = {},
              .open = true};
  for (const auto& difference : comparison.differences)
    table.rows.push_back(
        {(difference.refused ? html::badge(html::Tone::bad, "\u2717", "would be refused") + " " : Markup()) +
             difference.what,
         difference.a, difference.b, difference.why});
  return Section{.title = "The runs", .rest = draw(table)};
}

std::vector<Markup> time_cells(const TimeComparison* time) {
  if (time == nullptr) return {"-", "-", "-", "-", "-", "-", "-"};
  const auto interval = time->interval();
  return {html::time_text(time->a.median_ns),
          html::time_text(time->b.median_ns),
          fmt::format("{:.3f}", time->ratio()),
          interval ? fmt::format("{:.3f} to {:.3f}", interval->low, interval->high) : "-",
          time->p_value ? fmt::format("{:.2g}", *time->p_value) : "-",
          "\u00b1" + html::percent_text(time->effect),
          fmt::format("{} + {}", time->a.samples.num_samples(), time->b.samples.num_samples())};
}

Section cases_section(const Comparison& comparison) {
  Table table{.title = "Every case, worst first",
              .columns = {{"case", Align::text},
                          {"verdict", Align::text},
                          {"A"},
                          {"B"},
                          {"B / A"},
                          {"95% interval"},
                          {"p"},
                          {"band"},
                          {"samples"},
                          {"outputs equal"},
                          {"remarks", Align::text}},
              .rows = {},
              .open = true};
  for (const auto* row : comparison.worst_first()) {
    const auto* time = row->deciding_time();
    std::vector<Markup> cells = {
        row->key, html::badge(tone_of(*row), verdict_symbol(row->verdict), verdict_text(*row))};
    for (auto& cell : time_cells(time)) cells.push_back(std::move(cell));
    cells.emplace_back(
        row->outputs ? fmt::format("{} of {}", row->outputs->num_equal, row->outputs->num_prompts) : "-");
    auto remarks = remark_text(*row);
    if (time != nullptr && !time->suggestion.empty())
      remarks += (remarks.empty() ? "" : " ") + ("\u2192 " + time->suggestion);
    if (row->outputs && !row->outputs->suggestion.empty()) remarks += " \u2192 " + row->outputs->suggestion;
    cells.emplace_back(remarks);
    table.rows.push_back(std::move(cells));
  }
  return {.title = "Cases", .rest = draw(table)};
}

Table distances_table(const Comparison& comparison) {
  Table table{.title = "Outputs that changed, where both sides kept theirs",
              .columns = {{"case", Align::text},
                          {"outputs"},
                          {"relative_l2"},
                          {"max ulp of bf16"},
                          {"elements that differ"},
                          {"elements"}},
              .rows = {}};
  for (const auto* row : comparison.worst_first()) {
    if (!row->outputs || !row->outputs->distance) continue;
    const auto& distance = *row->outputs->distance;
    table.rows.push_back({row->key, fmt::format("{}", distance.num_outputs),
                          distance.relative_l2 ? fmt::format("{:.3g}", *distance.relative_l2) : "not finite",
                          fmt::format("{}", distance.max_ulp_bf16), fmt::format("{}", distance.num_different),
                          fmt::format("{}", distance.num_elements)});
  }
  return table;
}

// Outputs and counters that changed, cases of one side alone.
void add_details(Section& section, const Comparison& comparison) {
  Table counters{.title = "Counters that changed",
                 .columns = {{"case", Align::text}, {"counter", Align::text}},
                 .rows = {}};
  Table names{.title = "Cases that are new, missing or renamed",
              .columns = {{"case", Align::text}, {"what", Align::text}},
              .rows = {}};
  for (const auto* row : comparison.worst_first())
    for (const auto& change : row->counters) counters.rows.push_back({row->key, counter_text(change)});
  for (const auto& key : comparison.removed) names.rows.push_back({key, "missing"});
  for (const auto& key : comparison.added) names.rows.push_back({key, "new"});
  for (const auto& [from, to] : comparison.renamed) names.rows.push_back({to, "renamed from " + from});
  Table distances = distances_table(comparison);
  for (const auto* table : {&distances, &counters, &names})
    if (!table->rows.empty()) section.rest += draw(*table);
}

Section runs_section(const Comparison& comparison) {
  Table table{.title = "Reports that were compared",
              .columns = {{"file", Align::text},
                          {"side", Align::text},
                          {"run", Align::text},
                          {"started", Align::text},
                          {"revision", Align::text},
                          {"device", Align::text}},
              .rows = {}};
  for (const auto& [side, runs] : {std::pair{"A", &comparison.a}, std::pair{"B", &comparison.b}})
    for (const auto& run : *runs)
      table.rows.push_back(
          {run.file, side, run.run_id, run.started_at,
           run.git_sha.value_or("not known") + (run.dirty.value_or(false) ? ", with changes" : ""),
           run.device.value_or("not known")});
  return {.title = "Sides", .rest = draw(table)};
}

}  // namespace

std::string html_text(const Comparison& comparison) {
  const auto tone = html::tone_of(comparison.exit);
  html::Page page{.title = "branchmark compare",
                  .subtitle = fmt::format("A: {}. B: {}. Ratios are B over A: above 1, B is slower.",
                                          side_text(comparison.a), side_text(comparison.b)),
                  .tone = tone,
                  .symbol = html::symbol_of(tone),
                  .verdict = comparison.exit.name,
                  .reason = fmt::format("Exit {}: {}", comparison.exit.code, comparison.exit.reason),
                  .tiles = tiles_of(comparison)};
  const auto add = [&](std::optional<Section> section) {
    if (section) page.sections.push_back(std::move(*section));
  };
  add(differences_section(comparison));
  add(times_section(comparison));
  auto cases = cases_section(comparison);
  add_details(cases, comparison);
  add(std::move(cases));
  add(runs_section(comparison));
  return html::document(page);
}

}  // namespace branchmark
