#include "branchmark/report/annotations.hpp"

#include <fmt/format.h>

#include <string_view>

#include "branchmark/report/escape.hpp"
#include "branchmark/report/summary.hpp"

namespace branchmark {
namespace {

constexpr int kMaxOfSeverity = 9;  // the exit line is the tenth error

std::string_view command_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "notice";
  }
  return "notice";
}

}  // namespace

std::string github_annotations(const Report& report) {
  const auto title = "branchmark " + title_of(report);
  std::string text;
  int written[3] = {};
  for (const FindingGroup& group : group_findings(report)) {
    if (++written[static_cast<int>(group.first.severity)] > kMaxOfSeverity) continue;
    auto message = fmt::format("{}: {}", group.first_case, group.first.message);
    if (group.count > 1) message += fmt::format("\n{} more of this kind are in the report", group.count - 1);
    if (!group.first.suggestion.empty()) message += "\n" + group.first.suggestion;
    text += github_command(command_of(group.first.severity), title + ", " + group.first.id, message);
  }
  if (!report.exit)
    text += github_command("warning", title, "unfinished: the run was cut off");
  else
    text += github_command(report.exit->code == kExitOk ? "notice" : "error", title, exit_line(*report.exit));
  return text;
}

}  // namespace branchmark
