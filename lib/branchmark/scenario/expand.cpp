// The canonical text of a scenario: every default written out, so that two files that mean the same have the
// same digest. `checks` stays out where it was left out: what that means depends on the device.
#include "branchmark/base/digest.hpp"
#include "branchmark/base/json.hpp"
#include "branchmark/scenario/scenario.hpp"

namespace branchmark {
namespace {

template <class Enum>
Json words(const std::vector<Enum>& values) {
  Json list = Json::array();
  for (const Enum value : values) list.push_back(name_of(value));
  return list;
}

Json model_json(const ScenarioModel& model) {
  Json json = {{"seed", model.seed}, {"numerics", name_of(model.numerics)}, {"gdn", name_of(model.gdn)}};
  if (model.preset) {
    json["preset"] = *model.preset;
    json["weights"] = "synthetic";
  }
  if (model.checkpoint) json["checkpoint"] = model.checkpoint->written;
  if (model.layers) json["layers"] = *model.layers;
  if (model.adapter) {
    json["adapter"] = model.adapter->written;
    json["merge"] = model.merge;
  }
  return json;
}

Json prompts_json(const ScenarioPrompts& prompts) {
  Json json = {{"seed", prompts.seed}};
  if (prompts.file) {
    json["file"] = prompts.file->written;
    return json;
  }
  json["request_prefix_tokens"] = prompts.request_prefix_tokens;
  Json& groupings = json["groupings"] = Json::array();
  for (const Grouping& grouping : prompts.groupings) {
    Json groups = Json::array();
    for (const Group& group : grouping.groups)
      groups.push_back({{"prefix_tokens", group.prefix_tokens}, {"branch_tokens", group.branch_tokens}});
    groupings.push_back({{"name", grouping.name}, {"groups", std::move(groups)}});
  }
  return json;
}

Json side_json(const ParitySide& side) {
  Json json = {{"entry", name_of(side.entry)},
               {"gemm", name_of(side.gemm)},
               {"packing", name_of(side.packing)},
               {"graph", name_of(side.graph)}};
  if (side.numerics) json["numerics"] = name_of(*side.numerics);
  if (side.kernels) json["kernels"] = side.kernels->written;
  if (side.device) json["device"] = *side.device;
  return json;
}

Json parity_json(const ScenarioParity& parity) {
  Json json = {{"left", side_json(parity.left)}};
  if (parity.right) json["right"] = side_json(*parity.right);
  if (parity.max_relative_l2) json["max_relative_l2"] = *parity.max_relative_l2;
  return json;
}

Json reference_json(const ScenarioReference& reference) {
  Json json = {{"file", reference.file.written}};
  if (const auto* one = std::get_if<double>(&reference.max_relative_l2)) json["max_relative_l2"] = *one;
  if (const auto* by_case = std::get_if<std::map<std::string, double>>(&reference.max_relative_l2))
    json["max_relative_l2"] = *by_case;
  return json;
}

Json bench_json(const ScenarioBench& bench) {
  Json json = {{"single_tokens", bench.single_tokens},
               {"target_interval", bench.target_interval},
               {"min_samples", bench.min_samples},
               {"case_budget_s", bench.case_budget_s},
               {"order_seed", bench.order_seed}};
  if (bench.shared)
    json["shared"] = {{"prefix_tokens", bench.shared->prefix_tokens},
                      {"branches", bench.shared->branches},
                      {"branch_tokens", bench.shared->branch_tokens}};
  return json;
}

}  // namespace

std::string Scenario::expanded() const {
  Json json = {{"schema_version", kScenarioVersion},
               {"name", name},
               {"description", description},
               {"model", model_json(model)},
               {"execution",
                {{"graph", words(execution.graph)},
                 {"gemm", words(execution.gemm)},
                 {"packing", words(execution.packing)}}}};
  if (prompts) json["prompts"] = prompts_json(*prompts);
  if (checks) json["checks"] = words(*checks);
  if (reference) json["reference"] = reference_json(*reference);
  if (parity) json["parity"] = parity_json(*parity);
  if (bench) json["bench"] = bench_json(*bench);
  return json_text(json) + "\n";
}

std::string Scenario::digest() const {
  return sha256_hex(expanded());
}

}  // namespace branchmark
