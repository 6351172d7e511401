#include "branchmark/report/html/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/sections/sections.hpp"
#include "branchmark/report/one_side.hpp"
#include "branchmark/report/summary.hpp"

namespace branchmark {
namespace {

html::Tile cases_tile(const Report& report) {
  const auto passed = std::count_if(report.cases.begin(), report.cases.end(), html::is_usable);
  const auto invalid = std::count_if(report.cases.begin(), report.cases.end(), [](const CaseRecord& record) {
    return record.outcome == Outcome::pass && !record.invalid_reasons.empty();
  });
  return {fmt::format("{} of {}", passed, report.cases.size()),
          invalid > 0 ? fmt::format("cases passed and are valid; {} not valid", invalid) : "cases passed"};
}

std::string subtitle(const Report& report) {
  auto text = fmt::format("{}, on {}", report.started_at.substr(0, 10), device_text(report));
  if (report.model) text += ", model " + report.model->name;
  return text + ", revision " + report.tool.git_sha.value_or("not known").substr(0, 12) +
         (report.tool.dirty.value_or(false) ? " with changes" : "");
}

}  // namespace

std::string html_text(const Report& report) {
  const auto tone = html::tone_of(report.exit);
  html::Page page{.title = fmt::format("branchmark {}", title_of(report)),
                  .subtitle = subtitle(report),
                  .tone = tone,
                  .symbol = html::symbol_of(tone),
                  .verdict = report.exit ? report.exit->name : "unfinished",
                  .reason = report.exit ? fmt::format("Exit {}: {}", report.exit->code, report.exit->reason)
                                        : "The run did not end."};
  if (report.exit && !report.complete) page.reason += ". Not every selected case ran.";
  page.tiles = {cases_tile(report)};
  const auto own = one_side(report, "a");
  for (auto& tile : html::bench_tiles(own)) page.tiles.push_back(std::move(tile));

  const auto add = [&](std::optional<html::Section> section) {
    if (section) page.sections.push_back(std::move(*section));
  };
  add(html::findings_section(report));
  add(html::against_section(report));
  for (const auto make : {html::single_passes_section, html::shared_prefix_section, html::stages_section,
                          html::roofline_section, html::sample_spread_section, html::device_state_section})
    add(make(own));
  add(html::cases_section(report));
  add(html::run_facts_section(report));
  return html::document(page);
}

}  // namespace branchmark
