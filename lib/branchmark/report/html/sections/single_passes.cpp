#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/plot.hpp"
#include "branchmark/report/html/sections/sections.hpp"
#include "branchmark/report/one_side.hpp"

namespace branchmark::html {
namespace {

// One way of running a pass: "forward", "fixed", "class", each also "with graph".
std::string way_of(const CaseRecord& record) {
  const auto entry = parameter_text(record, "entry");
  const auto gemm = parameter_text(record, "gemm");
  return (entry == "forward" ? entry : gemm) + (parameter_text(record, "graph") == "on" ? ", graph" : "");
}

struct Ways {
  std::vector<std::string> names;  // in order of appearance
  std::map<std::string, std::map<double, const CaseRecord*>> by_tokens;
  std::set<double> tokens;

  const CaseRecord* find(const std::string& way, double at) const {
    const auto& cases = by_tokens.at(way);
    const auto found = cases.find(at);
    return found == cases.end() ? nullptr : found->second;
  }
};

Ways ways_of(const Report& report, const std::string& time) {
  Ways ways;
  for (const auto* record : cases_with(report, "single", time)) {
    const auto tokens = parameter_number(*record, "tokens");
    if (!tokens) continue;
    const auto way = way_of(*record);
    if (!ways.by_tokens.contains(way)) ways.names.push_back(way);
    ways.by_tokens[way][*tokens] = record;
    ways.tokens.insert(*tokens);
  }
  return ways;
}

Fill fill_of(const CaseRecord& record) {
  return is_usable(record) ? Fill::solid : Fill::hollow;
}

Axis tokens_axis(const Ways& ways) {
  return {.title = "prompt tokens",
          .kind = ScaleKind::logarithmic,
          .text = count_text,
          .at = {ways.tokens.begin(), ways.tokens.end()}};
}

Plot time_plot(const Ways& ways, const std::string& time) {
  Plot plot{.title = "One pass, by prompt length",
            .note = "Medians; both axes are logarithmic.",
            .x = tokens_axis(ways),
            .y = {.title = time == "wall_ns" ? "wall time" : "device time",
                  .kind = ScaleKind::logarithmic,
                  .text = time_text},
            .series = {}};
  for (std::size_t i = 0; i < ways.names.size(); ++i) {
    Series series{.name = ways.names[i], .style = i, .points = {}};
    for (const auto& [tokens, record] : ways.by_tokens.at(ways.names[i])) {
      const auto estimate = *estimate_of(*record, time);
      series.points.push_back({tokens, estimate.median, estimate.interval, fill_of(*record),
                               fmt::format("{}, {} tokens: {}, {}", series.name, count_text(tokens),
                                           time_with_width(estimate), interval_text(estimate))});
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::optional<double> over_forward(const Ways& ways, const std::string& way, double tokens,
                                   const std::string& time) {
  if (!ways.by_tokens.contains("forward") || way == "forward") return std::nullopt;
  const auto* base = ways.find("forward", tokens);
  const auto* record = ways.find(way, tokens);
  if (base == nullptr || record == nullptr) return std::nullopt;
  const auto ours = median_of(*record, time);
  const auto theirs = median_of(*base, time);
  if (!ours || !theirs || !is_drawable(ScaleKind::logarithmic, *ours / *theirs)) return std::nullopt;
  return *ours / *theirs;
}

Plot price_plot(const Ways& ways, const std::string& time) {
  Plot plot{.title = "The same, over forward's time",
            .note = "Dashed: forward itself, eager. Below it is faster.",
            .x = tokens_axis(ways),
            .y = {.title = "times forward's", .text = ratio_text},
            .series = {}};
  std::vector<double> all = {1};
  for (std::size_t i = 0; i < ways.names.size(); ++i) {
    Series series{.name = ways.names[i], .style = i, .points = {}};
    for (const auto& [tokens, record] : ways.by_tokens.at(ways.names[i]))
      if (const auto ratio = over_forward(ways, series.name, tokens, time)) {
        all.push_back(*ratio);
        const bool both = is_usable(*record) && is_usable(*ways.find("forward", tokens));
        series.points.push_back({tokens, *ratio, std::nullopt, both ? Fill::solid : Fill::hollow,
                                 fmt::format("{}, {} tokens: {} times forward's", series.name,
                                             count_text(tokens), ratio_text(*ratio))});
      }
    if (!series.points.empty()) plot.series.push_back(std::move(series));
  }
  const auto highest = *std::max_element(all.begin(), all.end());
  plot.y.range = Range{0, highest * 1.08};
  if (!ways.tokens.empty()) plot.references = {{{{*ways.tokens.begin(), 1}, {*ways.tokens.rbegin(), 1}}, ""}};
  return plot;
}

Table time_table(const Ways& ways, const std::string& time) {
  Table table{.title = "Single passes, as numbers", .columns = {{"tokens"}}, .rows = {}};
  for (const auto& name : ways.names) table.columns.push_back({name});
  for (const auto& name : ways.names)
    if (name != "forward") table.columns.push_back({name + " / forward"});
  table.columns.push_back({"forward, tokens/s"});
  for (const double tokens : ways.tokens) {
    std::vector<Markup> row = {count_text(tokens)};
    for (const auto& name : ways.names) {
      const auto* record = ways.find(name, tokens);
      const auto estimate = record != nullptr ? estimate_of(*record, time) : std::nullopt;
      row.emplace_back(estimate ? time_with_width(*estimate) + (is_usable(*record) ? "" : " !") : "-");
    }
    for (const auto& name : ways.names)
      if (name != "forward") {
        const auto ratio = over_forward(ways, name, tokens, time);
        row.emplace_back(ratio ? ratio_text(*ratio) : "-");
      }
    const auto* forward = ways.by_tokens.contains("forward") ? ways.find("forward", tokens) : nullptr;
    const auto rate = forward != nullptr ? median_of(*forward, "asked_tokens_per_second") : std::nullopt;
    row.emplace_back(rate ? count_text(*rate) : "-");
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::optional<Section> single_passes_section(const Report& report) {
  const auto time = deciding_time(report);
  const auto ways = ways_of(report, time);
  if (ways.names.empty()) return std::nullopt;
  Section section{.title = "Single passes",
                  .lead =
                      "One prompt, one pass. \"fixed\" and \"class\" give the same bits whatever else is in "
                      "the call; \"forward\" takes whatever is fastest. \"!\" marks what is not valid."};
  section.figures.push_back(draw(time_plot(ways, time)));
  const auto price = price_plot(ways, time);
  if (!price.series.empty()) section.figures.push_back(draw(price));
  section.rest = draw(time_table(ways, time));
  return section;
}

}  // namespace branchmark::html
