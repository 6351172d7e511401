#include <fmt/format.h>

#include <array>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/row_plot.hpp"
#include "branchmark/report/html/sections/sections.hpp"

namespace branchmark::html {
namespace {

constexpr std::array<const char*, 5> kStages = {"gemm", "gdn", "attention", "elementwise", "gaps"};
constexpr std::size_t kMostBreakdowns = 24;
// What the whole may be missed by before a reader should know.
constexpr double kTolerance = 0.05;

// By kStages, in nanoseconds; empty where the case has no breakdown.
std::vector<double> stages_of(const CaseRecord& record) {
  std::vector<double> parts;
  double whole = 0;
  for (const auto* stage : kStages) {
    parts.push_back(median_of(record, fmt::format("stage_{}_ns", stage)).value_or(0));
    whole += parts.back();
  }
  return whole > 0 ? parts : std::vector<double>();
}

double sum_of(const std::vector<double>& parts) {
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

Cases broken_down(const Report& report, std::string_view check) {
  Cases cases;
  for (const auto& record : report.cases)
    if (record.check == check && !stages_of(record).empty()) cases.push_back(&record);
  return cases;
}

std::size_t style_of(std::size_t stage) {
  return stage + 1 == kStages.size() ? kNumStyles - 1 : stage;  // gaps are grey
}

Markup stage_figure(const Cases& cases, const std::string& title) {
  RowPlot plot{
      .title = title,
      .note = "Shares of the sum of the stages, of a run that times each of them; at the right the sum.",
      .x = {.title = "share of the time",
            .text = percent_text,
            .at = {0, 0.25, 0.5, 0.75, 1},
            .range = Range{0, 1}},
      .rows = {}};
  for (std::size_t i = 0; i < kStages.size(); ++i)
    plot.legend.push_back({style_of(i), Fill::solid, kStages.at(i), Sample::area});
  const auto labels = short_labels(cases);
  for (std::size_t i = 0; i < cases.size() && i < kMostBreakdowns; ++i) {
    const auto parts = stages_of(*cases[i]);
    const double sum = sum_of(parts);
    std::vector<Part> shares;
    for (std::size_t stage = 0; stage < parts.size(); ++stage)
      shares.push_back({style_of(stage), kStages.at(stage), parts[stage] / sum});
    plot.rows.push_back(
        {.label = labels[i] + (is_usable(*cases[i]) ? "" : " !"),
         .title = cases[i]->key(),
         .value = time_text(sum),
         .marks = [shares](const Scale& x, double middle) { return stacked_bar(shares, x, middle); }});
  }
  plot.num_left_out = cases.size() - plot.rows.size();
  return draw(plot);
}

void add_rows(Table& table, const Cases& cases) {
  for (const auto* record : cases) {
    const auto parts = stages_of(*record);
    std::vector<Markup> row = {record->key()};
    for (const double part : parts)
      row.emplace_back(fmt::format("{} ({})", time_text(part), percent_text(part / sum_of(parts))));
    row.emplace_back(time_text(sum_of(parts)));
    const auto coverage = median_of(*record, "stage_coverage_ratio");
    row.emplace_back(coverage ? percent_text(*coverage) + (*coverage > 1 + kTolerance ? " !" : "") : "-");
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

std::optional<Section> stages_section(const Report& report) {
  Section section{
      .title = "Stages",
      .lead =
          "Where a pass spends its time. \"Gaps\" belong to no stage. Where the stages exceed the "
          "time of an unobserved call by more than 5% (! in the table), read shares, not times."};
  Table table{.title = "Stages, as numbers", .columns = {{"case", Align::text}}, .rows = {}};
  for (const auto* stage : kStages) table.columns.push_back({stage});
  table.columns.push_back({"sum"});
  table.columns.push_back({"stages / whole"});
  for (const auto& [check, title] : {std::pair{"single", "Stages of single passes"},
                                     std::pair{"shared", "Stages of requests that share a prefix"}}) {
    const auto cases = broken_down(report, check);
    if (cases.empty()) continue;
    section.figures.push_back(stage_figure(cases, title));
    add_rows(table, cases);
  }
  if (section.figures.empty()) return std::nullopt;
  section.rest = draw(table);
  return section;
}

}  // namespace branchmark::html
