#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "branchmark/report/annotations.hpp"
#include "branchmark/report/html/report_page.hpp"
#include "branchmark/report/human.hpp"
#include "branchmark/report/journal.hpp"
#include "branchmark/report/junit.hpp"
#include "branchmark/report/kept_outputs.hpp"
#include "branchmark/report/markdown.hpp"
#include "branchmark/report/output_file.hpp"
#include "commands/commands.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace branchmark::app {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::optional<std::string> report;
  std::optional<std::string> journal;
  RunOutputs outputs;
  bool force = false;
  bool quiet = false;
  bool no_color = false;
};

struct Rendering {
  OutputFile file;
  std::string (*text)(const Report&);
};

Exit render(const ReportOptions& options) {
  if (options.report.has_value() == options.journal.has_value())
    throw Error(ErrorCode::usage, "report: expected either a report or --from-journal with a journal");
  auto report = options.journal ? read_journal(*options.journal) : read_report(*options.report);

  const auto& outputs = options.outputs;
  // Named from where the report is now.
  if (auto& kept = report.kept_outputs; kept && outputs.report && fs::path(kept->folder).is_relative())
    kept->folder = folder_from_report(kept->resolved, *outputs.report);
  const auto replace = options.force ? Replace::replace : Replace::refuse;
  std::vector<std::string> paths;
  for (const auto& path :
       {outputs.report, outputs.junit, outputs.markdown, outputs.html, outputs.annotations})
    if (path) paths.push_back(*path);
  refuse_shared_paths(paths);
  // All before any: with one of them refused, no other may have been replaced.
  for (const auto& path : paths) check_output(path, replace);
  const auto open = [&](const std::string& path) {
    return OutputFile::open(path, OutputKind::whole, replace);
  };
  std::vector<Rendering> renderings;
  std::optional<OutputFile> report_file;
  if (outputs.report) report_file = open(*outputs.report);
  if (outputs.junit) renderings.push_back({open(*outputs.junit), junit_text});
  if (outputs.markdown) renderings.push_back({open(*outputs.markdown), markdown_text});
  if (outputs.html) renderings.push_back({open(*outputs.html), html_text});
  if (outputs.annotations) renderings.push_back({open(*outputs.annotations), github_annotations});

  for (auto& [file, text] : renderings) {
    file.write(text(report));
    file.commit();
  }
  if (report_file) {
    write_report(report, [&](std::string_view piece) { report_file->write(piece); });
    report_file->commit();
  }
  const auto source = options.journal ? *options.journal : *options.report;
  if (!options.quiet)
    say(verdict_text(report, outputs.report.value_or(source), colour_for(options.no_color)));
  const auto end = report.exit ? fmt::format("which ended with exit {} ({}): {}", report.exit->code,
                                             report.exit->name, report.exit->reason)
                               : std::string("which did not end");
  return make_exit(kExitOk, fmt::format("{} holds {} cases of run {}, {}", source, report.cases.size(),
                                        report.run_id, end));
}

}  // namespace

Command add_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  auto* parser = app.add_subcommand(
      "report",
      "Renders a report, or rebuilds one from the journal of a run that was cut off. Exit code 0 says that "
      "this was\n"
      "done, not that the run had passed.\n\n"
      "Example: branchmark report --from-journal r.journal.jsonl --report r.json --html r.html");
  parser->add_option("input", options->report, "A report of any command")->type_name("REPORT.json");
  parser->add_option("--from-journal", options->journal, "Rebuild the report of this journal instead")
      ->type_name("JOURNAL");
  parser->add_option("--report", options->outputs.report, "Write the report; - is stdout")->type_name("FILE");
  add_rendering_options(*parser, options->outputs, options->force);
  add_terminal_options(*parser, options->quiet, options->no_color);
  return {parser, [options](const std::vector<std::string>&) { return render(*options); }};
}

}  // namespace branchmark::app
