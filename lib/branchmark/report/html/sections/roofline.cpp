#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/plot.hpp"
#include "branchmark/report/html/row_plot.hpp"
#include "branchmark/report/html/sections/sections.hpp"
#include "branchmark/report/one_side.hpp"

namespace branchmark::html {
namespace {

constexpr std::size_t kMostShares = 10;

struct Ceilings {
  double flop_per_second = 0;
  double bytes_per_second = 0;
};

std::optional<Ceilings> ceilings_of(const Report& report) {
  std::optional<double> product, copy;
  for (const auto& record : report.cases) {
    if (record.check != "ceiling") continue;
    if (const auto found = median_of(record, "flop_per_second")) product = found;
    if (const auto found = median_of(record, "bytes_per_second")) copy = found;
  }
  if (!product || !copy || !(*product > 0) || !(*copy > 0)) return std::nullopt;
  return Ceilings{*product, *copy};
}

struct Point {
  const CaseRecord* record = nullptr;
  double intensity = 0;  // flop a byte
  double flop_per_second = 0;
};

std::vector<Point> points_of(const Report& report) {
  std::vector<Point> points;
  for (const auto& record : report.cases) {
    if (record.check == "ceiling") continue;
    const auto flop = median_of(record, "flop");
    const auto bytes = median_of(record, "traffic_bytes");
    const auto rate = median_of(record, "flop_per_second");
    if (flop && bytes && rate && *flop > 0 && *bytes > 0 && *rate > 0)
      points.push_back({&record, *flop / *bytes, *rate});
  }
  return points;
}

// Cases of one series: the ways of a pass, of a request, the ops.
std::string series_of(const CaseRecord& record) {
  if (record.check == "shared") {
    auto way = parameter_text(record, "way");
    std::replace(way.begin(), way.end(), '_', ' ');
    return way;
  }
  if (record.check == "op") return parameter_text(record, "op");
  const auto gemm = parameter_text(record, "gemm");
  return fmt::format("single, {}{}", gemm, parameter_text(record, "graph") == "on" ? ", graph" : "");
}

std::string rate_text(double value) {
  return si_text(value, "FLOP/s");
}

std::string rate_tick(double value) {
  return si_text(value, "");
}

std::string intensity_text(double value) {
  return value >= 1 ? count_text(value) : significant(value);
}

// Under the ceilings, what an intensity allows.
double reachable(const Ceilings& ceilings, double intensity) {
  return std::min(ceilings.flop_per_second, intensity * ceilings.bytes_per_second);
}

Plot roofline_plot(const Ceilings& ceilings, const std::vector<Point>& points) {
  std::vector<double> intensities = {ceilings.flop_per_second / ceilings.bytes_per_second};
  std::vector<double> rates = {ceilings.flop_per_second};
  std::map<std::string, std::size_t> styles;
  Plot plot{
      .title = "Roofline",
      .note = "Against what this device was measured to reach in this run. Both axes are logarithmic.",
      .x = {.title = "FLOP per byte of traffic", .kind = ScaleKind::logarithmic, .text = intensity_text},
      .y = {.title = "FLOP/s, of the device's time", .kind = ScaleKind::logarithmic, .text = rate_tick},
      .series = {}};
  for (const auto& point : points) {
    const auto name = series_of(*point.record);
    const auto [found, added] = styles.try_emplace(name, plot.series.size());
    if (added) plot.series.push_back({.name = name, .style = found->second, .points = {}, .joined = false});
    plot.series[found->second].points.push_back(
        {point.intensity, point.flop_per_second, std::nullopt,
         is_usable(*point.record) ? Fill::solid : Fill::hollow,
         fmt::format("{}: {}, {} of what is reachable", point.record->key(), rate_text(point.flop_per_second),
                     percent_text(point.flop_per_second / reachable(ceilings, point.intensity)))});
    intensities.push_back(point.intensity);
    rates.push_back(point.flop_per_second);
  }
  plot.x.range = range_of(intensities, ScaleKind::logarithmic, 0.12);
  plot.y.range = range_of(rates, ScaleKind::logarithmic, 0.12);
  const double ridge = ceilings.flop_per_second / ceilings.bytes_per_second;
  const double left = std::max(plot.x.range->low, plot.y.range->low / ceilings.bytes_per_second);
  plot.references = {{{{left, left * ceilings.bytes_per_second}, {ridge, ceilings.flop_per_second}},
                      "copy " + si_text(ceilings.bytes_per_second, "B/s"),
                      LabelPlace::beside_the_middle},
                     {{{ridge, ceilings.flop_per_second}, {plot.x.range->high, ceilings.flop_per_second}},
                      "product " + rate_text(ceilings.flop_per_second)}};
  return plot;
}

double share_of_reachable(const Ceilings& ceilings, const Point& point) {
  return point.flop_per_second / reachable(ceilings, point.intensity);
}

Markup reached_figure(const Ceilings& ceilings, const std::vector<Point>& worst_first) {
  RowPlot plot{
      .title = "How much of it is reached",
      .note = "FLOP/s over what the lower of both ceilings allows at the case's FLOP per byte; least first.",
      .x = {.title = "of what is reachable",
            .text = percent_text,
            .at = {0, 0.25, 0.5, 0.75, 1},
            .range = Range{0, 1}},
      .rows = {}};
  std::vector<CaseName> names;
  for (const auto& point : worst_first) names.push_back({point.record->check, &point.record->parameters});
  const auto labels = short_labels(names);
  for (std::size_t i = 0; i < worst_first.size() && i < kMostShares; ++i) {
    const auto& point = worst_first[i];
    const double share = share_of_reachable(ceilings, point);
    plot.rows.push_back({.label = labels[i] + (is_usable(*point.record) ? "" : " !"),
                         .title = point.record->key(),
                         .value = percent_text(share),
                         .marks =
                             [share](const Scale& x, double middle) {
                               return rect("s1 part", x.at(0), middle - 5, x.at(share) - x.at(0), 10);
                             },
                         .height = 10});
  }
  plot.num_left_out = worst_first.size() - plot.rows.size();
  return draw(plot);
}

Table roofline_table(const Ceilings& ceilings, const std::vector<Point>& worst_first) {
  Table table{.title = "Roofline, as numbers",
              .columns = {{"case", Align::text},
                          {"outcome", Align::text},
                          {"of reachable"},
                          {"FLOP / byte"},
                          {"FLOP/s"},
                          {"of product"},
                          {"of copy"}},
              .rows = {}};
  for (const auto& point : worst_first)
    table.rows.push_back({point.record->key(), status_badge(*point.record),
                          percent_text(share_of_reachable(ceilings, point)), significant(point.intensity),
                          rate_text(point.flop_per_second),
                          percent_text(point.flop_per_second / ceilings.flop_per_second),
                          percent_text(point.flop_per_second / point.intensity / ceilings.bytes_per_second)});
  return table;
}

}  // namespace

std::optional<Section> roofline_section(const Report& report) {
  const auto ceilings = ceilings_of(report);
  auto points = points_of(report);
  if (!ceilings || points.empty()) return std::nullopt;
  const auto plot = roofline_plot(*ceilings, points);
  std::stable_sort(points.begin(), points.end(), [&](const Point& one, const Point& other) {
    return share_of_reachable(*ceilings, one) < share_of_reachable(*ceilings, other);
  });
  return Section{
      .title = "Roofline",
      .lead = fmt::format("Work by formula over time, below two measured ceilings: a large bf16 product "
                          "({}) and a large copy ({}).",
                          rate_text(ceilings->flop_per_second), si_text(ceilings->bytes_per_second, "B/s")),
      .figures = {draw(plot), reached_figure(*ceilings, points)},
      .rest = draw(roofline_table(*ceilings, points))};
}

}  // namespace branchmark::html
