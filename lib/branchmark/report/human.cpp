#include "branchmark/report/human.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/report/escape.hpp"
#include "branchmark/report/summary.hpp"

namespace branchmark {
namespace {

constexpr std::string_view kGreen = "32";
constexpr std::string_view kRed = "31";
constexpr std::string_view kYellow = "33";

std::string painted(std::string_view text, std::string_view code, Colour colour) {
  return colour == Colour::none ? std::string(text) : fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string duration_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:.1f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.0f} us", ns / 1e3);
}

std::string_view colour_of(Outcome outcome) {
  if (outcome == Outcome::pass) return kGreen;
  return outcome == Outcome::fail || outcome == Outcome::error || outcome == Outcome::timeout ? kRed
                                                                                              : kYellow;
}

std::string findings_text(const Report& report, Colour colour) {
  constexpr std::size_t kMaxShown = 6;
  auto groups = group_findings(report);
  std::erase_if(groups, [](const FindingGroup& group) { return group.first.severity == Severity::note; });
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxShown); ++i) {
    const FindingGroup& group = groups[i];
    text +=
        fmt::format("\n  {} {}{}\n    in {}\n    {}\n",
                    painted(name_of(group.first.severity),
                            group.first.severity == Severity::error ? kRed : kYellow, colour),
                    printable(group.first.id), group.count > 1 ? fmt::format(" ({} times)", group.count) : "",
                    printable(group.first_case), printable(group.first.message));
    if (!group.first.suggestion.empty())
      text += fmt::format("    -> {}\n", printable(group.first.suggestion));
  }
  if (groups.size() > kMaxShown)
    text += fmt::format("\n  {} more kinds of findings are in the report\n", groups.size() - kMaxShown);
  return text;
}

std::string check_word(const CheckCounts& counts, Colour colour) {
  if (counts.clean()) return painted("ok  ", kGreen, colour);
  const auto failed = counts.of(Outcome::fail) + counts.of(Outcome::error) + counts.of(Outcome::timeout);
  return failed > 0 ? painted("FAIL", kRed, colour) : painted("open", kYellow, colour);
}

std::string verdict_word(const Report& report, Colour colour) {
  if (!report.exit) return painted("UNFINISHED", kYellow, colour);
  if (report.exit->code == kExitOk) return painted("PASS", kGreen, colour);
  const bool open = report.exit->code == kExitInconclusive || report.exit->code == kExitNotEligible;
  return painted(report.exit->code == kExitInconclusive  ? "INCONCLUSIVE"
                 : report.exit->code == kExitNotEligible ? "NOT ELIGIBLE"
                                                         : "FAIL",
                 open ? kYellow : kRed, colour);
}

}  // namespace

std::string case_line(const CaseRecord& record, std::int64_t number, std::int64_t total, Colour colour) {
  const std::string count = std::to_string(total);
  std::string line =
      fmt::format("[{:>{}}/{}] {} {}", number, count.size(), count,
                  painted(fmt::format("{:<12}", name_of(record.outcome)), colour_of(record.outcome), colour),
                  printable(record.key()));
  if (record.outcome == Outcome::skipped)
    line += fmt::format(" ({})", printable(record.skip_reason));
  else
    line += ", " + duration_text(record.duration_ns);
  if (record.outcome != Outcome::pass && !record.findings.empty())
    line += ": " + printable(record.findings.front().message);
  return line;
}

std::string verdict_text(const Report& report, const std::string& report_path, Colour colour) {
  std::string text = fmt::format("\n{}, level {}, on {}\n", printable(title_of(report)), report.level,
                                 printable(device_text(report)));
  if (report.model)
    text += fmt::format("model {}, profile {}\n", printable(report.model->name),
                        printable(report.model->profile));
  text += '\n';
  for (const CheckCounts& counts : count_by_check(report))
    text += fmt::format("  {} {:<26} {} ({})\n", check_word(counts, colour), printable(counts.check),
                        counts.text(), duration_text(counts.duration_ns));
  text += findings_text(report, colour);
  text +=
      fmt::format("\n{}  {}, level {}{}\nreport {}\n", verdict_word(report, colour),
                  printable(title_of(report)), report.level,
                  report.complete ? "" : ", incomplete: not every selected case ran", printable(report_path));
  return text;
}

}  // namespace branchmark
