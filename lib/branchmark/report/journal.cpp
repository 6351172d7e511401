#include "branchmark/report/journal.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json_view.hpp"
#include "branchmark/report/read.hpp"

namespace branchmark {

JournalWriter::JournalWriter(OutputFile file, const Report& report) : file_(std::move(file)) {
  try {
    line({{"type", "header"},
          {"schema",
           {{"name", kJournalSchema}, {"version", fmt::format("{}.{}", kSchemaMajor, kSchemaMinor)}}},
          {"report", header_to_json(report)}});
  } catch (...) {
    file_.discard();
    throw;
  }
}

void JournalWriter::update(const Report& report) {
  line({{"type", "update"}, {"report", header_to_json(report)}});
}

void JournalWriter::record(const CaseRecord& record) {
  line({{"type", "case"}, {"case", to_json(record)}});
}

void JournalWriter::end(const Report& report) {
  line({{"type", "end"}, {"report", header_to_json(report)}});
}

void JournalWriter::close() {
  file_.commit();
}

void JournalWriter::discard() noexcept {
  file_.discard();
}

void JournalWriter::line(const Json& value) {
  file_.write(json_text(value, JsonStyle::compact));
  file_.write("\n");
  file_.sync();
}

namespace {

// Takes one line into the report; true where it ended the run. A type that is not known is ignored: a newer
// minor version adds it.
bool take_line(const std::string& text, const std::string& origin, bool first, Report& report) {
  const Json value = parse_json(text, origin);
  const JsonView view(value, origin);
  const JsonView type = view.at("type");
  const std::string line = type.string();
  if ((line == "header") != first) type.refuse(first ? "\"header\" in the first line" : "no second header");
  if (first) check_schema(view.at("schema"), kJournalSchema);
  if (line == "case") {
    report.cases.push_back(read_case_record(view.at("case")));
    return false;
  }
  if (line != "header" && line != "update" && line != "end") return false;
  Report header = report_header_from_json(view.at("report"));
  header.cases = std::move(report.cases);
  report = std::move(header);
  return line == "end";
}

}  // namespace

Report read_journal(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file))
    throw Error(ErrorCode::io, fmt::format("journal {}: cannot be read: {}", file.string(),
                                           stream ? "it is a folder" : std::strerror(errno)));
  // Also for the sake of what has no lines, and no end.
  if (const int first = stream.peek(); first != '{' && first != std::ifstream::traits_type::eof())
    throw Error(ErrorCode::usage,
                fmt::format("journal {}: begins with the byte {:#04x}, expected {{ and a header",
                            file.string(), first));
  Report report;
  bool ended = false;
  std::int64_t number = 0;
  for (std::string text; std::getline(stream, text);) {
    // A line without its end was being written when the run was killed.
    if (stream.eof()) break;
    ++number;
    ended = take_line(text, fmt::format("{}:{}", file.string(), number), number == 1, report);
  }
  if (stream.bad())
    throw Error(ErrorCode::io, fmt::format("journal {}: cannot be read in full", file.string()));
  if (number == 0)
    throw Error(ErrorCode::usage,
                fmt::format("journal {}: found no complete line, expected a header", file.string()));
  resolve_kept_outputs(report, file);
  if (!ended) {
    report.complete = false;
    report.exit.reset();
    report.ended_at.reset();
    report.null_reasons["exit"] = report.null_reasons["ended_at"] =
        "the journal has no end: the run was cut off";
  }
  return report;
}

}  // namespace branchmark
