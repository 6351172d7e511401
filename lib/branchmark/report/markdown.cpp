#include "branchmark/report/markdown.hpp"

#include <fmt/format.h>

#include "branchmark/report/escape.hpp"
#include "branchmark/report/summary.hpp"

namespace branchmark {
namespace {

void append_cases(std::string& out, const Report& report) {
  constexpr std::size_t kMaxRows = 50;
  std::size_t rows = 0;
  std::size_t left = 0;
  for (const CaseRecord& record : report.cases) {
    const bool good = record.outcome == Outcome::skipped ||
                      (record.outcome == Outcome::pass && record.invalid_reasons.empty());
    if (good) continue;
    if (rows == kMaxRows) {
      ++left;
      continue;
    }
    if (rows++ == 0)
      out += "\n### Cases that did not pass\n\n| case | outcome | first finding |\n| --- | --- | --- |\n";
    out += fmt::format("| {} | {}{} | {} |\n", markdown_escaped(record.key()),
                       markdown_escaped(std::string(name_of(record.outcome))),
                       record.invalid_reasons.empty()
                           ? ""
                           : ", invalid: " + markdown_escaped(record.invalid_reasons.front()),
                       record.findings.empty() ? "" : markdown_escaped(record.findings.front().message));
  }
  if (left > 0) out += fmt::format("\n{} more are in the report.\n", left);
}

void append_row(std::string& out, std::string_view name, const std::string& value) {
  out += fmt::format("| {} | {} |\n", name, markdown_escaped(value));
}

}  // namespace

std::string markdown_text(const Report& report) {
  std::string out = fmt::format("## {}: {}\n\n", markdown_escaped(title_of(report)),
                                report.exit ? markdown_escaped(report.exit->name) : "unfinished");
  if (report.exit)
    out += fmt::format("Exit {}: {}\n", report.exit->code, markdown_escaped(report.exit->reason));
  if (!report.complete) out += "\n**Incomplete: not every selected case ran.**\n";

  out += "\n| check | cases |\n| --- | --- |\n";
  for (const CheckCounts& counts : count_by_check(report))
    append_row(out, markdown_escaped(counts.check), counts.text());

  const auto groups = group_findings(report);
  if (!groups.empty()) out += "\n### Findings\n\n";
  for (const FindingGroup& group : groups) {
    out += fmt::format("- **{} {}**, {} {}, first in {}: {}\n", name_of(group.first.severity),
                       markdown_escaped(group.first.id), group.count, group.count == 1 ? "time" : "times",
                       markdown_escaped(group.first_case), markdown_escaped(group.first.message));
    if (!group.first.suggestion.empty())
      out += fmt::format("  {}\n", markdown_escaped(group.first.suggestion));
  }
  append_cases(out, report);

  out += "\n### Run\n\n| what | value |\n| --- | --- |\n";
  append_row(out, "run", report.run_id);
  append_row(out, "level", report.level);
  append_row(out, "device", device_text(report));
  if (report.model) append_row(out, "model", report.model->name + ", profile " + report.model->profile);
  if (report.scenario) append_row(out, "scenario digest", report.scenario->digest);
  append_row(out, "revision",
             report.tool.git_sha.value_or("not known") +
                 (report.tool.dirty.value_or(false) ? ", with changes" : ""));
  append_row(out, "compiler", report.tool.compiler + ", " + report.tool.build_type);
  if (report.kernels) append_row(out, "kernels", report.kernels->build_id);
  append_row(out, "host", report.host.cpu_model.value_or(report.host.architecture) + ", " + report.host.os);
  return out;
}

}  // namespace branchmark
