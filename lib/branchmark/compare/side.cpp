#include "branchmark/compare/side.hpp"

#include <fmt/format.h>

#include <map>
#include <regex>
#include <set>

#include "branchmark/base/error.hpp"

namespace branchmark {

Side::Side(std::vector<NamedReport> reports) : reports_(std::move(reports)) {
  if (reports_.empty()) throw Error(ErrorCode::usage, "a side without a report, expected at least one");
  std::map<std::string, std::string> files;
  for (const auto& [file, report] : reports_) {
    const auto [known, is_new] = files.emplace(report.run_id, file);
    if (!is_new)
      throw Error(ErrorCode::usage, fmt::format("{}: found run {}, which {} of the same side holds too, "
                                                "expected another run",
                                                file, report.run_id, known->second));
    std::set<std::string> keys;
    for (const auto& record : report.cases) {
      const auto key = record.key();
      if (!keys.insert(key).second)
        throw Error(ErrorCode::usage, fmt::format("{}: found two cases {}, expected one", file, key));
      auto& merged = cases_[key];
      merged.check = record.check;
      merged.parameters = record.parameters;
      merged.records.push_back(&record);
    }
  }
}

std::vector<ComparedRun> Side::runs() const {
  std::vector<ComparedRun> runs;
  for (const auto& [file, report] : reports_) {
    ComparedRun run{.file = file,
                    .run_id = report.run_id,
                    .command = report.command,
                    .started_at = report.started_at,
                    .git_sha = report.tool.git_sha,
                    .dirty = report.tool.dirty,
                    .device = {},
                    .scenario = {},
                    .complete = report.complete,
                    .exit_code = {}};
    if (report.device) run.device = report.device->name;
    if (report.scenario) run.scenario = report.scenario->name;
    if (report.exit) run.exit_code = report.exit->code;
    runs.push_back(std::move(run));
  }
  return runs;
}

void Side::keep_only(const std::string& pattern) {
  std::regex regex;
  try {
    regex = std::regex(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    throw Error(ErrorCode::usage,
                fmt::format("--filter \"{}\": no regular expression: {}", pattern, error.what()));
  }
  std::erase_if(cases_, [&](const auto& entry) { return !std::regex_search(entry.first, regex); });
}

}  // namespace branchmark
