#include <fmt/format.h>

#include <algorithm>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/sections/sections.hpp"
#include "branchmark/report/summary.hpp"

namespace branchmark::html {
namespace {

Markup severity_badge(Severity severity) {
  switch (severity) {
    case Severity::error:
      return badge(Tone::bad, "\u2717", "error");
    case Severity::warning:
      return badge(Tone::doubtful, "!", "warning");
    case Severity::note:
      break;
  }
  return badge(Tone::quiet, "i", "note");
}

// Why a case is what it is, and what it has to say.
std::string remarks_of(const CaseRecord& record) {
  std::string text = record.skip_reason;
  for (const auto& reason : record.invalid_reasons) text += (text.empty() ? "" : ", ") + reason;
  for (const auto& finding : record.findings)
    if (finding.severity != Severity::note) {
      text += (text.empty() ? "" : "; ") + finding.message;
      if (!finding.suggestion.empty()) text += " \u2192 " + finding.suggestion;
    }
  return text;
}

std::string distance_text(const CaseRecord& record) {
  const auto distance = median_of(record, "relative_l2");
  return !distance ? "-" : *distance == 0 ? "0" : fmt::format("{:.2e}", *distance);
}

std::string time_cell(const CaseRecord& record, const std::string& metric) {
  const auto estimate = estimate_of(record, metric);
  return estimate ? time_with_width(*estimate) : "-";
}

bool is_clean(const Report& report) {
  return std::all_of(report.cases.begin(), report.cases.end(), [](const CaseRecord& record) {
    return is_usable(record) || record.outcome == Outcome::skipped;
  });
}

}  // namespace

std::optional<Section> findings_section(const Report& report) {
  Markup items;
  Table notes{.title = "Notes",
              .columns = {{"note", Align::text}, {"times"}, {"message of the first", Align::text}},
              .rows = {}};
  for (const auto& group : group_findings(report)) {
    const auto& [id, severity, message, suggestion] = group.first;
    const auto advice = suggestion.empty() ? "" : " \u2192 " + suggestion;
    if (severity == Severity::note) {
      notes.rows.push_back({id, fmt::format("{}", group.count), message + advice});
      continue;
    }
    items += element("li", {},
                     severity_badge(severity) + " " + element("strong", {}, id) + " " +
                         (group.count == 1 ? std::string("in ")
                                           : fmt::format("{} times, first in ", group.count)) +
                         element("code", {}, group.first_case) + element("br", {}) + (message + advice)) +
             "\n";
  }
  if (items.empty() && notes.rows.empty()) return std::nullopt;
  Section section{.title = "Findings"};
  if (!items.empty()) section.rest = element("ul", {{"class", "findings"}}, items);
  if (!notes.rows.empty()) section.rest += draw(notes);
  return section;
}

std::optional<Section> cases_section(const Report& report) {
  if (report.cases.empty()) return std::nullopt;
  Section section{.title = "Cases"};
  for (const auto& counts : count_by_check(report))
    section.lead += fmt::format("{}{}: {}", section.lead.empty() ? "" : "; ", counts.check, counts.text());
  const auto time = deciding_time(report);
  const bool timed = std::any_of(report.cases.begin(), report.cases.end(), [](const CaseRecord& record) {
    return estimate_of(record, "wall_ns").has_value();
  });
  Table table{.title = "Every case, worst first",
              .columns = {{"case", Align::text}, {"outcome", Align::text}},
              .rows = {},
              .open = !is_clean(report)};
  if (timed) {
    table.columns.push_back({"device time"});
    table.columns.push_back({"wall time"});
    table.columns.push_back({"tokens/s"});
  } else {
    table.columns.push_back({"took"});
  }
  table.columns.push_back({"relative L2"});
  table.columns.push_back({"remarks", Align::text});
  Cases cases;
  for (const auto& record : report.cases) cases.push_back(&record);
  for (const auto* record : worst_first(std::move(cases), time)) {
    std::vector<Markup> row = {record->key(), status_badge(*record)};
    if (timed) {
      row.emplace_back(time_cell(*record, "device_ns"));
      row.emplace_back(time_cell(*record, "wall_ns"));
      const auto rate = median_of(*record, "asked_tokens_per_second");
      row.emplace_back(rate ? count_text(*rate) : "-");
    } else {
      row.emplace_back(time_text(record->duration_ns));
    }
    row.emplace_back(distance_text(*record));
    row.emplace_back(remarks_of(*record));
    table.rows.push_back(std::move(row));
  }
  section.rest = draw(table);
  return section;
}

}  // namespace branchmark::html
