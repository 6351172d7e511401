#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/row_plot.hpp"
#include "branchmark/report/html/sections/sections.hpp"

namespace branchmark::html {
namespace {

constexpr std::size_t kMostPairs = 40;
constexpr const char* kRatio = "device_ratio";

double distance(const CaseRecord* record) {
  return std::abs(std::log(*median_of(*record, kRatio)));
}

bool outputs_changed(const CaseRecord& record) {
  return std::any_of(record.findings.begin(), record.findings.end(),
                     [](const Finding& finding) { return finding.id == "outputs_changed"; });
}

Markup ratio_figure(const Cases& cases) {
  RowPlot plot{
      .title = "Side b's time over side a's",
      .note = "Medians of ratios within rounds, with 95% intervals; furthest from 1 first.",
      .x = {.title = "ratio; below 1, side b is faster", .kind = ScaleKind::logarithmic, .text = ratio_text},
      .rows = {},
      .zero = 1.0};
  const auto labels = short_labels(cases);
  std::vector<double> all = {0.98, 1.02};
  for (std::size_t i = 0; i < cases.size() && i < kMostPairs; ++i) {
    const auto estimate = *estimate_of(*cases[i], kRatio);
    all.push_back(estimate.median);
    if (estimate.interval) {
      all.push_back(estimate.interval->low);
      all.push_back(estimate.interval->high);
    }
    const auto fill = is_usable(*cases[i]) ? Fill::solid : Fill::hollow;
    plot.rows.push_back({.label = labels[i] + (is_usable(*cases[i]) ? "" : " !"),
                         .title = cases[i]->key(),
                         .value = fmt::format("{:.3f}", estimate.median),
                         .marks = [estimate, fill](const Scale& x, double middle) {
                           return interval_mark(estimate.median, estimate.interval, 0, fill, x, middle, "");
                         }});
  }
  plot.x.range = range_of(all, ScaleKind::logarithmic, 0.05);
  plot.num_left_out = cases.size() - plot.rows.size();
  return draw(plot);
}

Table ratio_table(const Cases& cases) {
  Table table{.title = "Both sides, as numbers",
              .columns = {{"case", Align::text},
                          {"outcome", Align::text},
                          {"outputs", Align::text},
                          {"b / a"},
                          {"95% interval"},
                          {"rounds"}},
              .rows = {}};
  for (const auto* record : cases) {
    const auto estimate = *estimate_of(*record, kRatio);
    table.rows.push_back(
        {record->key(), status_badge(*record), outputs_changed(*record) ? "changed" : "same",
         fmt::format("{:.4f}", estimate.median),
         estimate.interval ? fmt::format("{:.4f} to {:.4f}", estimate.interval->low, estimate.interval->high)
                           : "-",
         fmt::format("{}", estimate.sorted.size())});
  }
  return table;
}

}  // namespace

std::optional<Section> against_section(const Report& report) {
  auto cases = cases_with(report, "against", kRatio);
  std::erase_if(cases, [](const CaseRecord* record) { return !(*median_of(*record, kRatio) > 0); });
  if (cases.empty()) return std::nullopt;
  std::stable_sort(cases.begin(), cases.end(), [](const CaseRecord* one, const CaseRecord* other) {
    return distance(one) > distance(other);
  });
  const auto build = [](const std::optional<KernelsInfo>& kernels) {
    return kernels ? kernels->build_id : std::string("not known");
  };
  return Section{.title = "Two builds, side by side",
                 .lead = fmt::format("Side a is {}; side b is {}. What follows below is side a's.",
                                     build(report.kernels), build(report.kernels_against)),
                 .figures = {ratio_figure(cases)},
                 .rest = draw(ratio_table(cases))};
}

}  // namespace branchmark::html
