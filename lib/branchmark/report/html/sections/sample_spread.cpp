#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/row_plot.hpp"
#include "branchmark/report/html/sections/sections.hpp"

namespace branchmark::html {
namespace {

constexpr std::size_t kMostSpreads = 24;

std::vector<double> deviations(const Estimate& estimate) {
  std::vector<double> out;
  for (const double sample : estimate.sorted) out.push_back(sample / estimate.median - 1);
  return out;
}

// Wide enough for all but the outermost samples of each row, and no wider than is of use.
double half_range(const std::vector<std::vector<double>>& rows) {
  double most = 0.01;
  for (const auto& row : rows) most = std::max({most, -quantile(row, 0.02), quantile(row, 0.98)});
  return std::min(1.05 * most, 0.5);
}

Markup spread_figure(const Cases& cases, const std::string& title, const std::string& time) {
  RowPlot plot{.title = title,
               .note =
                   "Each dot a sample, against its case's median. Thin: p10 to p90; thick: 95% interval of "
                   "the median. "
                   "Not valid first, then the widest; what lies beyond is at the edge.",
               .x = {.title = "distance from the median", .text = change_text},
               .rows = {},
               .zero = 0.0};
  const auto labels = short_labels(cases);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < cases.size() && i < kMostSpreads; ++i) {
    const auto estimate = *estimate_of(*cases[i], time);
    rows.push_back(deviations(estimate));
    const auto fill = is_usable(*cases[i]) ? Fill::solid : Fill::hollow;
    const auto width = estimate.relative_half_width();
    plot.rows.push_back(
        {.label = labels[i] + (is_usable(*cases[i]) ? "" : " !"),
         .title =
             fmt::format("{}: {}, {}", cases[i]->key(), time_with_width(estimate), interval_text(estimate)),
         .value = width ? "\u00b1" + percent_text(*width) : fmt::format("n {}", estimate.sorted.size()),
         .marks = [row = rows.back(), fill](const Scale& x,
                                            double middle) { return strip(row, 0, fill, x, middle); },
         .height = 22});
  }
  const double half = half_range(rows);
  plot.x.range = Range{-half, half};
  plot.num_left_out = cases.size() - plot.rows.size();
  return draw(plot);
}

void add_rows(Table& table, const Cases& cases, const std::string& time) {
  for (const auto* record : cases) {
    const auto estimate = *estimate_of(*record, time);
    const auto width = estimate.relative_half_width();
    table.rows.push_back({record->key(), status_badge(*record), fmt::format("{}", estimate.sorted.size()),
                          time_text(estimate.median), width ? "\u00b1" + percent_text(*width) : "-",
                          time_text(quantile(estimate.sorted, 0.1)),
                          time_text(quantile(estimate.sorted, 0.9)), time_text(estimate.sorted.front()),
                          time_text(estimate.sorted.back())});
  }
}

}  // namespace

std::optional<Section> sample_spread_section(const Report& report) {
  const auto time = deciding_time(report);
  Section section{.title = "Samples",
                  .lead = fmt::format("How far the samples of a case lie apart, by {} time.",
                                      time == "wall_ns" ? "wall" : "device")};
  Table table{.title = "Samples, as numbers",
              .columns = {{"case", Align::text},
                          {"outcome", Align::text},
                          {"n"},
                          {"median"},
                          {"95% interval"},
                          {"p10"},
                          {"p90"},
                          {"least"},
                          {"most"}},
              .rows = {}};
  for (const auto& [check, title] :
       {std::pair{"single", "Samples of single passes"},
        std::pair{"shared", "Samples of requests that share a prefix"}, std::pair{"op", "Samples of ops"}}) {
    auto cases = cases_with(report, check, time);
    std::erase_if(cases, [&](const CaseRecord* record) { return !(*median_of(*record, time) > 0); });
    if (cases.empty()) continue;
    cases = worst_first(std::move(cases), time);
    section.figures.push_back(spread_figure(cases, title, time));
    add_rows(table, cases, time);
  }
  if (section.figures.empty()) return std::nullopt;
  section.rest = draw(table);
  return section;
}

}  // namespace branchmark::html
