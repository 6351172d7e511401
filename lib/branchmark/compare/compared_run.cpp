#include "branchmark/compare/compared_run.hpp"

#include <fmt/format.h>

#include <charconv>

#include "branchmark/report/report.hpp"

namespace branchmark {
namespace {

template <class Value>
void put(Json& json, const std::string& name, const std::optional<Value>& value) {
  if (value) {
    json[name] = *value;
    return;
  }
  json[name] = nullptr;
  json["null_reasons"][name] = "not in the report";
}

std::optional<JsonView> present(const JsonView& view, std::string_view key) {
  const auto found = view.at(key);
  return found.is_null() ? std::nullopt : std::optional(found);
}

}  // namespace

Json runs_json(const std::vector<ComparedRun>& runs) {
  Json json = Json::array();
  for (const auto& run : runs) {
    Json one = {{"file", run.file},
                {"run_id", run.run_id},
                {"command", run.command},
                {"started_at", run.started_at},
                {"complete", run.complete}};
    put(one, "git_sha", run.git_sha);
    put(one, "dirty", run.dirty);
    put(one, "device", run.device);
    put(one, "scenario", run.scenario);
    put(one, "exit_code", run.exit_code);
    json.push_back(std::move(one));
  }
  return json;
}

std::vector<ComparedRun> runs_from_json(const JsonView& view) {
  std::vector<ComparedRun> runs;
  for (const auto& one : view.items(1)) {
    ComparedRun run;
    run.file = one.at("file").label();
    run.run_id = one.at("run_id").label();
    run.command = one.at("command").label();
    run.started_at = one.at("started_at").label();
    run.complete = one.at("complete").boolean();
    if (const auto sha = present(one, "git_sha")) run.git_sha = sha->string();
    if (const auto dirty = present(one, "dirty")) run.dirty = dirty->boolean();
    if (const auto device = present(one, "device")) run.device = device->string();
    if (const auto scenario = present(one, "scenario")) run.scenario = scenario->string();
    if (const auto code = present(one, "exit_code")) run.exit_code = static_cast<int>(code->integer(0, 255));
    if (const auto reasons = one.find("null_reasons"))
      for (const auto& name : reasons->keys()) reasons->at(name).string();
    runs.push_back(std::move(run));
  }
  return runs;
}

Json schema_json(std::string_view name) {
  return {{"name", name}, {"version", fmt::format("{}.{}", kSchemaMajor, kSchemaMinor)}};
}

double rounded(double value) {
  const auto text = fmt::format("{:.6g}", value);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

}  // namespace branchmark
