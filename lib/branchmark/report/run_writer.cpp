#include "branchmark/report/run_writer.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "branchmark/base/error.hpp"
#include "branchmark/report/annotations.hpp"
#include "branchmark/report/host.hpp"
#include "branchmark/report/html/report_page.hpp"
#include "branchmark/report/junit.hpp"
#include "branchmark/report/kept_outputs.hpp"
#include "branchmark/report/markdown.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kJournalSuffix = ".journal.jsonl";

// r.json has r.journal.jsonl beside it.
std::string journal_beside(const std::string& report) {
  fs::path path = report;
  if (path.extension() == ".json") path.replace_extension();
  return path.string() + std::string(kJournalSuffix);
}

// A journal tells of the folder what its report does, so a relative name needs the two in one folder.
KeptOutputsInfo info_of(const std::string& folder, const std::string& report, const std::string& journal) {
  const auto whole = fs::weakly_canonical(fs::absolute(folder));
  const auto parent = [](const std::string& file) {
    return fs::weakly_canonical(fs::absolute(file).parent_path());
  };
  return {parent(report) == parent(journal) ? folder_from_report(whole, report) : whole.string(), whole};
}

}  // namespace

RunWriter::RunWriter(Report report, const RunOutputs& outputs)
    : report_(std::move(report)), verdict_(report_.level) {
  const std::string own_folder = "branchmark-out/" + report_.run_id + "/";
  report_path_ = outputs.report.value_or(own_folder + "report.json");
  journal_path_ = outputs.journal                     ? *outputs.journal
                  : is_written_in_place(report_path_) ? own_folder + "report" + std::string(kJournalSuffix)
                                                      : journal_beside(report_path_);
  std::vector<std::string> paths = {report_path_, journal_path_};
  if (outputs.junit) paths.push_back(*outputs.junit);
  if (outputs.markdown) paths.push_back(*outputs.markdown);
  if (outputs.html) paths.push_back(*outputs.html);
  if (outputs.annotations) paths.push_back(*outputs.annotations);
  auto with_folder = paths;
  if (outputs.kept_outputs) with_folder.push_back(*outputs.kept_outputs);
  refuse_shared_paths(with_folder);
  // All before any: with one of them refused, no other may have been replaced.
  for (const std::string& path : paths) check_output(path, outputs.replace);
  if (outputs.kept_outputs) {
    make_output_folder(*outputs.kept_outputs);
    report_.kept_outputs = info_of(*outputs.kept_outputs, report_path_, journal_path_);
  }

  const auto open = [&](const std::string& path) {
    return OutputFile::open(path, OutputKind::whole, outputs.replace);
  };
  report_file_ = open(report_path_);
  if (outputs.junit) junit_file_ = open(*outputs.junit);
  if (outputs.markdown) markdown_file_ = open(*outputs.markdown);
  if (outputs.html) html_file_ = open(*outputs.html);
  if (outputs.annotations) annotations_file_ = open(*outputs.annotations);
  journal_.emplace(OutputFile::open(journal_path_, OutputKind::growing, outputs.replace), report_);
}

void RunWriter::update() {
  journal_->update(report_);
}

void RunWriter::record(CaseRecord record) {
  verdict_.add(record);
  report_.cases.push_back(std::move(record));
  journal_->record(report_.cases.back());
}

template <class Write>
void RunWriter::attempt(Write write) {
  try {
    write();
  } catch (const std::exception& error) {
    verdict_.add(error);
    report_.exit = verdict_.decide();
  }
}

Exit RunWriter::finish(bool ran_to_end) {
  report_.complete = ran_to_end;
  report_.ended_at = utc_now();
  report_.exit = verdict_.decide();
  const auto write_text = [&](std::optional<OutputFile>& file, std::string (*render)(const Report&)) {
    if (!file) return;
    attempt([&] {
      file->write(render(report_));
      file->commit();
    });
    file.reset();
  };
  // The report comes last: what it says of the exit includes how the others fared.
  write_text(junit_file_, junit_text);
  write_text(markdown_file_, markdown_text);
  write_text(html_file_, html_text);
  write_text(annotations_file_, github_annotations);
  attempt([&] { journal_->end(report_); });
  const Exit before = *report_.exit;
  attempt([&] {
    write_report(report_, [&](std::string_view piece) { report_file_->write(piece); });
    report_file_->commit();
  });
  report_file_.reset();
  if (*report_.exit != before) attempt([&] { journal_->end(report_); });
  attempt([&] { journal_->close(); });
  return *report_.exit;
}

void RunWriter::abandon() noexcept {
  if (journal_) journal_->discard();
  journal_.reset();
  report_file_.reset();
  junit_file_.reset();
  markdown_file_.reset();
  html_file_.reset();
  annotations_file_.reset();
}

}  // namespace branchmark
