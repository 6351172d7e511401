#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/plot.hpp"
#include "branchmark/report/html/sections/sections.hpp"
#include "branchmark/report/one_side.hpp"

namespace branchmark::html {
namespace {

// A caller waits for the wall's time, packing included.
constexpr const char* kTime = "wall_ns";

struct Way {
  std::string_view parameter;
  std::string_view name;
};
constexpr std::array<Way, 4> kWays = {{{"packed", "packed"},
                                       {"per_branch", "one pass a branch"},
                                       {"alone_forward", "alone, forward"},
                                       {"alone_fixed", "alone, same bits"}}};

using Panel = std::pair<double, double>;  // prefix, branch tokens
struct Shape {
  double branches = 0;
  std::map<std::string, const CaseRecord*> ways;
};
using Panels = std::map<Panel, std::map<double, std::map<std::string, const CaseRecord*>>>;

Panels panels_of(const Report& report) {
  Panels panels;
  for (const auto* record : cases_with(report, "shared", kTime)) {
    const auto prefix = parameter_number(*record, "prefix");
    const auto branches = parameter_number(*record, "branches");
    const auto tokens = parameter_number(*record, "branch_tokens");
    if (prefix && branches && tokens)
      panels[{*prefix, *tokens}][*branches][parameter_text(*record, "way")] = record;
  }
  return panels;
}

std::string panel_text(const Panel& panel) {
  return fmt::format("prefix {}, branches of {} tokens", count_text(panel.first), count_text(panel.second));
}

Range time_range(const Panels& panels) {
  std::vector<double> all;
  for (const auto& [panel, shapes] : panels)
    for (const auto& [branches, ways] : shapes)
      for (const auto& [way, record] : ways) all.push_back(*median_of(*record, kTime));
  return range_of(all, ScaleKind::logarithmic, 0.06);
}

std::vector<double> keys_of(const auto& map) {
  std::vector<double> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

Plot panel_plot(const Panel& panel, const Panels& panels) {
  const auto& shapes = panels.at(panel);
  Plot plot{
      .title =
          fmt::format("Prefix {}, branches of {} tokens", count_text(panel.first), count_text(panel.second)),
      .note = "Time by number of branches; both axes are logarithmic.",
      .x = {.title = "branches", .kind = ScaleKind::logarithmic, .text = count_text, .at = keys_of(shapes)},
      .y = {.title = "wall time",
            .kind = ScaleKind::logarithmic,
            .text = time_text,
            .range = time_range(panels)},
      .series = {}};
  for (std::size_t i = 0; i < kWays.size(); ++i) {
    Series series{.name = std::string(kWays.at(i).name), .style = i, .points = {}};
    for (const auto& [branches, ways] : shapes) {
      const auto found = ways.find(std::string(kWays.at(i).parameter));
      if (found == ways.end()) continue;
      const auto estimate = *estimate_of(*found->second, kTime);
      series.points.push_back(
          {branches, estimate.median, estimate.interval,
           is_usable(*found->second) ? Fill::solid : Fill::hollow,
           fmt::format("{}, {} branches: {}, {}{}", series.name, count_text(branches),
                       time_with_width(estimate), interval_text(estimate),
                       estimate.derived ? ", one prompt's time times the branches" : "")});
    }
    if (!series.points.empty()) plot.series.push_back(std::move(series));
  }
  return plot;
}

std::optional<double> times_as_fast(const std::map<std::string, const CaseRecord*>& ways,
                                    const std::string& as) {
  const auto ours = ways.find("packed");
  const auto theirs = ways.find(as);
  if (ours == ways.end() || theirs == ways.end()) return std::nullopt;
  const auto packed = median_of(*ours->second, kTime);
  const auto other = median_of(*theirs->second, kTime);
  return packed && other && *packed > 0 ? std::optional(*other / *packed) : std::nullopt;
}

std::optional<double> saved_share(const std::map<std::string, const CaseRecord*>& ways) {
  const auto found = ways.find("packed");
  if (found == ways.end()) return std::nullopt;
  const auto saved = median_of(*found->second, "saved_tokens");
  const auto asked = median_of(*found->second, "asked_tokens");
  return saved && asked && *asked > 0 ? std::optional(*saved / *asked) : std::nullopt;
}

Plot speed_up_plot(const Panels& panels) {
  Plot plot{.title = "How many times as fast as every prompt alone",
            .note = "Packed over alone by forward; dashed: no gain. Both axes are logarithmic.",
            .x = {.title = "branches", .kind = ScaleKind::logarithmic, .text = count_text},
            .y = {.title = "speed-up", .kind = ScaleKind::logarithmic, .text = ratio_text},
            .series = {}};
  std::set<double> counts;
  std::vector<double> gains = {1};
  for (const auto& [panel, shapes] : panels) {
    Series series{.name = fmt::format("{} + {}", count_text(panel.first), count_text(panel.second)),
                  .style = plot.series.size(),
                  .points = {}};
    for (const auto& [branches, ways] : shapes)
      if (const auto gain = times_as_fast(ways, "alone_forward")) {
        counts.insert(branches);
        gains.push_back(*gain);
        const bool valid = is_usable(*ways.at("packed")) && is_usable(*ways.at("alone_forward"));
        series.points.push_back({branches, *gain, std::nullopt, valid ? Fill::solid : Fill::hollow,
                                 fmt::format("{}, {} branches: {} times as fast", panel_text(panel),
                                             count_text(branches), ratio_text(*gain))});
      }
    if (!series.points.empty()) plot.series.push_back(std::move(series));
  }
  plot.x.at = {counts.begin(), counts.end()};
  plot.y.range = range_of(gains, ScaleKind::logarithmic, 0.08);
  if (!counts.empty()) plot.references = {{{{*counts.begin(), 1}, {*counts.rbegin(), 1}}, ""}};
  return plot;
}

Table shared_table(const Panels& panels) {
  Table table{.title = "Shared prefix, as numbers", .columns = {{"prefix"}, {"branches"}}, .rows = {}};
  for (const auto& way : kWays) table.columns.push_back({std::string(way.name)});
  for (const auto* title : {"\u00d7 a branch", "\u00d7 alone", "tokens saved", "state"})
    table.columns.push_back({title});
  for (const auto& [panel, shapes] : panels)
    for (const auto& [branches, ways] : shapes) {
      std::vector<Markup> row = {count_text(panel.first),
                                 fmt::format("{} \u00d7 {}", count_text(branches), count_text(panel.second))};
      for (const auto& way : kWays) {
        const auto found = ways.find(std::string(way.parameter));
        row.emplace_back(found == ways.end() ? "-"
                                             : time_with_width(*estimate_of(*found->second, kTime)) +
                                                   (is_usable(*found->second) ? "" : " !"));
      }
      for (const auto* as : {"per_branch", "alone_forward"}) {
        const auto gain = times_as_fast(ways, as);
        row.emplace_back(gain ? ratio_text(*gain) : "-");
      }
      const auto saved = saved_share(ways);
      row.emplace_back(saved ? percent_text(*saved) : "-");
      const auto packed = ways.find("packed");
      const auto state = packed == ways.end() ? std::nullopt : median_of(*packed->second, "state_bytes");
      row.emplace_back(state ? si_text(*state, "B") : "-");
      table.rows.push_back(std::move(row));
    }
  return table;
}

}  // namespace

std::optional<Section> shared_prefix_section(const Report& report) {
  const auto panels = panels_of(report);
  if (panels.empty()) return std::nullopt;
  Section section{
      .title = "Shared prefix",
      .lead =
          "Prompts that begin alike: the prefix runs once, and every branch continues from its "
          "state, all branches packed into one pass or one pass a branch. \"Alone\" is every prompt "
          "by itself: one prompt's time, times their number. The pictures of times have the same axes."};
  for (const auto& [panel, shapes] : panels) section.figures.push_back(draw(panel_plot(panel, panels)));
  const auto gains = speed_up_plot(panels);
  if (!gains.series.empty()) section.figures.push_back(draw(gains));
  section.rest = draw(shared_table(panels));
  return section;
}

std::vector<Tile> bench_tiles(const Report& report) {
  std::vector<Tile> tiles;
  double most = 0;
  for (const auto& [panel, shapes] : panels_of(report))
    for (const auto& [branches, ways] : shapes)
      if (const auto gain = times_as_fast(ways, "alone_forward"); gain && *gain > most) {
        most = *gain;
        const auto saved = saved_share(ways);
        const Tile tile{fmt::format("{}\u00d7", ratio_text(*gain)),
                        fmt::format("as fast as alone: {} branches of {} behind {}{}", count_text(branches),
                                    count_text(panel.second), count_text(panel.first),
                                    saved ? ", " + percent_text(*saved) + " of tokens saved" : "")};
        tiles.assign(1, tile);
      }
  double product = -1, copy = -1;
  std::vector<double> price;
  for (const auto& record : report.cases) {
    if (record.check != "single") continue;
    product = std::max(product, median_of(record, "product_ceiling_share").value_or(-1));
    copy = std::max(copy, median_of(record, "copy_ceiling_share").value_or(-1));
    if (const auto ratio = median_of(record, "class_over_default_device_ratio")) price.push_back(*ratio);
  }
  if (!price.empty()) {
    const auto [low, high] = std::minmax_element(price.begin(), price.end());
    tiles.push_back({*low == *high ? ratio_text(*low) : ratio_text(*low) + " to " + ratio_text(*high),
                     "of forward's time, for the same bits always (class)"});
  }
  if (product >= 0)
    tiles.push_back({percent_text(product),
                     fmt::format("of the measured product at most, {} of the copy", percent_text(copy))});
  return tiles;
}

}  // namespace branchmark::html
