// The outputs of a run, in one hand: opened before any device work, written while the run goes on, completed
// at its end. Used by one thread.
//
//   Report report = begin_report(...);                 // then its level, scenario
//   RunWriter writer(std::move(report), outputs);      // refuses or fails before anything is touched
//   writer.report().device = ...; writer.update();     // what becomes known later
//   writer.record(std::move(case_record));             // on disk when this returns
//   writer.verdict().add(kExitInconclusive, "...");    // what no case says
//   Exit exit = writer.finish(true);
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "branchmark/report/exit_code.hpp"
#include "branchmark/report/journal.hpp"
#include "branchmark/report/output_file.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark {

struct RunOutputs {
  std::optional<std::string> report;   // absent: branchmark-out/<run-id>/report.json; "-" is stdout
  std::optional<std::string> journal;  // absent: beside the report
  std::optional<std::string> junit;
  std::optional<std::string> markdown;
  std::optional<std::string> html;
  std::optional<std::string> annotations;  // for GitHub
  // A folder, made before the run if it is not there; the run's cases write into it.
  std::optional<std::string> kept_outputs;
  Replace replace = Replace::refuse;
};

class RunWriter {
 public:
  // Opens every output and writes the journal's first line. Throws usage for an existing regular file that
  // may not be replaced or a path named twice, io for what cannot be opened; nothing new is left behind then.
  RunWriter(Report report, const RunOutputs& outputs);

  // The report so far. Cases are added by record() only.
  Report& report() noexcept { return report_; }
  const Report& report() const noexcept { return report_; }
  ExitDecision& verdict() noexcept { return verdict_; }

  // Journals what the report says now beside its cases.
  void update();
  // Journals the case, waits until it is on disk, and takes it into report and verdict. Throws io.
  void record(CaseRecord record);

  // Writes JUnit, Markdown, HTML, the journal's end and the report. `ran_to_end`: every selected case was
  // recorded. An output that cannot be written makes the result 6 (unless something worse happened) and is
  // named in it; nothing is thrown for that. The result is what the report holds and the process should
  // return.
  Exit finish(bool ran_to_end);

  // Instead of finish, for a run that ended before its first case with nothing to keep: removes every output.
  void abandon() noexcept;

  const std::string& report_path() const noexcept { return report_path_; }
  const std::string& journal_path() const noexcept { return journal_path_; }

 private:
  template <class Write>
  void attempt(Write write);

  Report report_;
  ExitDecision verdict_;
  std::string report_path_;
  std::string journal_path_;
  std::optional<OutputFile> report_file_;
  std::optional<OutputFile> junit_file_;
  std::optional<OutputFile> markdown_file_;
  std::optional<OutputFile> html_file_;
  std::optional<OutputFile> annotations_file_;
  std::optional<JournalWriter> journal_;
};

}  // namespace branchmark
