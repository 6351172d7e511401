#include "branchmark/report/junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "branchmark/report/summary.hpp"

namespace branchmark {
namespace {

enum class Kind { pass, failure, error, skipped };

Kind kind_of(const CaseRecord& record) {
  switch (record.outcome) {
    case Outcome::pass:
      return record.invalid_reasons.empty() ? Kind::pass : Kind::error;
    case Outcome::fail:
      return Kind::failure;
    case Outcome::skipped:
      return Kind::skipped;
    default:
      return Kind::error;
  }
}

std::string seconds(double ns) {
  return fmt::format("{:.6f}", std::isfinite(ns) && ns > 0 ? ns / 1e9 : 0.0);
}

std::string message_of(const CaseRecord& record) {
  if (!record.findings.empty()) return record.findings.front().message;
  if (!record.invalid_reasons.empty()) return record.invalid_reasons.front();
  return std::string(name_of(record.outcome));
}

std::string details_of(const CaseRecord& record) {
  std::string text;
  for (const Finding& finding : record.findings) {
    text += fmt::format("{} {}: {}\n", name_of(finding.severity), finding.id, finding.message);
    if (!finding.suggestion.empty()) text += finding.suggestion + "\n";
  }
  for (const std::string& reason : record.invalid_reasons) text += "invalid: " + reason + "\n";
  return text;
}

void append_case(std::string& out, const CaseRecord& record) {
  const Kind kind = kind_of(record);
  out += fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{}\"", xml_escaped(record.key()),
                     xml_escaped(record.check), seconds(record.duration_ns));
  if (kind == Kind::pass) {
    out += "/>\n";
  } else if (kind == Kind::skipped) {
    out +=
        fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", xml_escaped(record.skip_reason));
  } else {
    const std::string_view element = kind == Kind::failure ? "failure" : "error";
    const std::string_view type = record.outcome == Outcome::pass ? "invalid" : name_of(record.outcome);
    out += fmt::format(">\n      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n    </testcase>\n", element,
                       xml_escaped(message_of(record)), type, xml_escaped(details_of(record)));
  }
}

void append_property(std::string& out, std::string_view name, const std::string& value) {
  // The schemas want a value of at least one character.
  out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name,
                     value.empty() ? "none" : xml_escaped(value));
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\n' || c == '\t' || c == '\r')
      out += fmt::format("&#{};", static_cast<int>(byte));
    else if (byte < 0x20 || byte == 0x7f)
      out += "\xef\xbf\xbd";
    else
      out += c;
  }
  // U+FFFE and U+FFFF are the two characters of three bytes that XML has no place for.
  for (const std::string_view never : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (auto at = out.find(never); at != std::string::npos; at = out.find(never, at))
      out.replace(at, never.size(), "\xef\xbf\xbd");
  return out;
}

std::string junit_text(const Report& report) {
  const auto count = [&](Kind kind) {
    return std::count_if(report.cases.begin(), report.cases.end(),
                         [&](const CaseRecord& record) { return kind_of(record) == kind; });
  };
  double total_ns = 0;
  for (const CaseRecord& record : report.cases)
    if (std::isfinite(record.duration_ns)) total_ns += record.duration_ns;
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite id=\"0\" package=\"branchmark\" name=\"{}\" timestamp=\"{}\" hostname=\"localhost\" "
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">\n",
      xml_escaped(title_of(report)), xml_escaped(report.started_at.substr(0, 19)), report.cases.size(),
      count(Kind::failure), count(Kind::error), count(Kind::skipped), seconds(total_ns));
  out += "    <properties>\n";
  append_property(out, "run_id", report.run_id);
  append_property(out, "level", report.level);
  append_property(out, "device", device_text(report));
  append_property(out, "revision", report.tool.git_sha.value_or(""));
  append_property(out, "complete", report.complete ? "true" : "false");
  append_property(out, "exit", report.exit ? exit_line(*report.exit) : "");
  out += "    </properties>\n";
  for (const CaseRecord& record : report.cases) append_case(out, record);
  out += "    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n";
  return out;
}

}  // namespace branchmark
