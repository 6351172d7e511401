// The journal of a run: JSON lines, each on disk before its case is announced, so that a killed run loses
// nothing that had finished.
//
//   {"type":"header","schema":{...},"report":{...}}   the report without its cases; first line
//   {"type":"update","report":{...}}                  the same, when more is known; the last one holds
//   {"type":"case","case":{...}}                      one finished case
//   {"type":"end","report":{...}}                     the same, with exit; the last one holds
#pragma once

#include <filesystem>
#include <string>

#include "branchmark/report/output_file.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark {

class JournalWriter {
 public:
  // Takes an open, empty output of kind `growing` and writes the first line.
  JournalWriter(OutputFile file, const Report& report);

  // Each returns when its line is on disk; throws io.
  void update(const Report& report);
  void record(const CaseRecord& record);
  void end(const Report& report);
  void close();
  // Removes the journal: for a run that ends before it began.
  void discard() noexcept;

 private:
  void line(const Json& value);
  OutputFile file_;
};

// Rebuilds a report. Without an end line it is marked incomplete and has no exit; a last line that was cut
// short is left out. Throws io where the file cannot be read, usage where it is no journal, is of a newer
// major version, or a line before the last is malformed.
Report read_journal(const std::filesystem::path& file);

}  // namespace branchmark
