// A report that took part in a comparison, and what the documents of a comparison have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/base/json.hpp"
#include "branchmark/base/json_view.hpp"

namespace branchmark {

struct ComparedRun {
  std::string file;  // as it was named
  std::string run_id;
  std::string command;
  std::string started_at;
  std::optional<std::string> git_sha;
  std::optional<bool> dirty;
  std::optional<std::string> device;
  std::optional<std::string> scenario;
  bool complete = false;
  std::optional<int> exit_code;
};

Json runs_json(const std::vector<ComparedRun>& runs);
// At least one. Throws usage for what the schema would refuse.
std::vector<ComparedRun> runs_from_json(const JsonView& view);

// {"name": ..., "version": ...} of this program's major version.
Json schema_json(std::string_view name);

// Six significant digits: an estimate has no more, and the last bits of a logarithm differ between C
// libraries.
double rounded(double value);

}  // namespace branchmark
