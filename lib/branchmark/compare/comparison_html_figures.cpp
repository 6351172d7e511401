#include "branchmark/compare/comparison_html_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/row_plot.hpp"

namespace branchmark {
namespace {

using html::Fill;
using html::Scale;

constexpr std::size_t kMostRatios = 40;
constexpr std::size_t kMostSamples = 16;

// By CaseVerdict's order. Slower points up and faster down, as their symbols do.
constexpr std::array<std::size_t, kNumCaseVerdicts> kStyles = {
    html::style_with(1, 2), 3, 3, 4, 3, html::style_with(2, 5), html::style_with(5, 0)};
constexpr std::array<const char*, kNumCaseVerdicts> kSymbols = {"\u25b2", "\u2212", "\u2260", "?",
                                                                "+",      "\u25bc", "="};

std::size_t style_of(CaseVerdict verdict) {
  return kStyles.at(static_cast<std::size_t>(verdict));
}

struct Row {
  const CaseComparison* compared = nullptr;
  const TimeComparison* time = nullptr;
  std::string label;
};

std::vector<Row> rows_of(const Comparison& comparison) {
  std::vector<Row> rows;
  std::vector<html::CaseName> names;
  for (const auto* compared : comparison.worst_first())
    if (const auto* time = compared->deciding_time(); time != nullptr && std::isfinite(time->log_ratio)) {
      rows.push_back({compared, time, ""});
      names.push_back({compared->check, &compared->parameters});
    }
  const auto labels = html::short_labels(names);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].label = fmt::format("{} {}", verdict_symbol(rows[i].compared->verdict), labels[i]);
  return rows;
}

Interval band_of(const TimeComparison& time) {
  return {1 / (1 + time.effect), 1 + time.effect};
}

bool one_band(const std::vector<Row>& rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return row.time->effect == rows.front().time->effect; });
}

html::PlotRow ratio_row(const Row& row, bool with_band) {
  const auto ratio = row.time->ratio();
  const auto interval = row.time->interval();
  const auto title = fmt::format(
      "{}: {}, ratio {:.4f}{}", row.compared->key, name_of(row.compared->verdict), ratio,
      interval ? fmt::format(", 95% interval {:.4f} to {:.4f}", interval->low, interval->high) : "");
  return {.label = row.label,
          .title = title,
          .value = fmt::format("{:.3f}", ratio),
          .marks = [=, band = band_of(*row.time), style = style_of(row.compared->verdict)](const Scale& x,
                                                                                           double middle) {
            html::Markup out;
            if (with_band)
              out += html::rect("band", x.at(band.low), middle - 8, x.at(band.high) - x.at(band.low), 16);
            return out + html::interval_mark(ratio, interval, style, Fill::solid, x, middle, "");
          }};
}

html::Markup ratio_figure(const std::vector<Row>& rows) {
  const bool same_band = one_band(rows);
  html::RowPlot plot{.title = "B's time over A's",
                     .note = "With 95% intervals, worst first. Shaded: changes too small to count.",
                     .x = {.title = "ratio; above 1, B is slower",
                           .kind = html::ScaleKind::logarithmic,
                           .text = html::ratio_text},
                     .rows = {},
                     .zero = 1.0};
  if (same_band) plot.band = band_of(*rows.front().time);
  std::vector<double> all;
  std::array<bool, kNumCaseVerdicts> seen = {};
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRatios); ++i) {
    const auto band = band_of(*rows[i].time);
    const auto interval = rows[i].time->interval().value_or(band);
    for (const double value : {rows[i].time->ratio(), interval.low, interval.high, band.low, band.high})
      all.push_back(value);
    seen.at(static_cast<std::size_t>(rows[i].compared->verdict)) = true;
    plot.rows.push_back(ratio_row(rows[i], !same_band));
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (const auto verdict = static_cast<CaseVerdict>(i); seen.at(i))
      plot.legend.push_back({style_of(verdict), Fill::solid,
                             fmt::format("{} {}", verdict_symbol(verdict), verdict_word(verdict))});
  plot.x.range = html::range_of(all, html::ScaleKind::logarithmic, 0.05);
  plot.num_left_out = rows.size() - plot.rows.size();
  return draw(plot);
}

// All runs' samples over A's median, less 1; ascending.
std::vector<double> deviations(const TimeSide& side, double base) {
  std::vector<double> out;
  for (const auto& run : side.samples.runs())
    for (const double sample : run) out.push_back(sample / base - 1);
  std::sort(out.begin(), out.end());
  return out;
}

html::Markup samples_figure(const std::vector<Row>& rows) {
  html::RowPlot plot{.title = "Samples of both sides",
                     .note =
                         "Each dot a sample, against A's median: A above, B below. Thin: p10 to p90; thick: "
                         "95% interval of the median. What lies beyond is drawn at the edge.",
                     .x = {.title = "distance from A's median", .text = html::change_text},
                     .rows = {},
                     .zero = 0.0};
  plot.legend = {{0, Fill::solid, "A"}, {1, Fill::solid, "B"}};
  double most = 0.01;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostSamples); ++i) {
    const auto& time = *rows[i].time;
    const auto a = deviations(time.a, time.a.median_ns);
    const auto b = deviations(time.b, time.a.median_ns);
    if (a.empty() || b.empty()) continue;
    for (const auto* side : {&a, &b}) most = std::max({most, -quantile(*side, 0.02), quantile(*side, 0.98)});
    plot.rows.push_back({.label = rows[i].label,
                         .title = rows[i].compared->key,
                         .value = html::change_text(time.ratio() - 1),
                         .marks =
                             [a, b](const Scale& x, double middle) {
                               return html::strip(a, 0, Fill::solid, x, middle - 11) +
                                      html::strip(b, 1, Fill::solid, x, middle + 11);
                             },
                         .height = 44});
  }
  const double half = std::min(1.05 * most, 0.5);
  plot.x.range = html::Range{-half, half};
  plot.num_left_out = rows.size() - plot.rows.size();
  return draw(plot);
}

}  // namespace

std::string verdict_symbol(CaseVerdict verdict) {
  return kSymbols.at(static_cast<std::size_t>(verdict));
}

std::string verdict_word(CaseVerdict verdict) {
  std::string word(name_of(verdict));
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

std::optional<html::Section> times_section(const Comparison& comparison) {
  const auto rows = rows_of(comparison);
  if (rows.empty()) return std::nullopt;
  const double effect = std::max(comparison.min_effect, comparison.noise_floor.value_or(0));
  return html::Section{
      .title = "Times",
      .lead =
          fmt::format("Smallest change that counts: {}{}. A case is slower or faster where its "
                      "interval lies outside that band and the test holds with all cases in view; the same "
                      "where its interval lies inside.",
                      html::percent_text(effect), comparison.noise_floor ? ", noise floor included" : ""),
      .figures = {ratio_figure(rows), samples_figure(rows)}};
}

}  // namespace branchmark
