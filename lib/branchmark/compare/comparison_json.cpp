#include "branchmark/compare/comparison_json.hpp"

#include <cmath>
#include <cstdint>

namespace branchmark {
namespace {

// Counters are whole numbers, which a double shows with a point.
Json counter_json(double value) {
  constexpr double kExact = 9007199254740992.0;
  if (std::abs(value) <= kExact && std::trunc(value) == value) return static_cast<std::int64_t>(value);
  return value;
}

Json counters_json(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(counter_json(value));
  return json;
}

Json side_json(const TimeSide& side) {
  return {{"median_ns", side.median_ns},
          {"samples", side.samples.num_samples()},
          {"runs", side.samples.runs().size()}};
}

Json time_json(const TimeComparison& time) {
  Json json = {{"metric", time.metric},          {"verdict", name_of(time.verdict)},
               {"ratio", rounded(time.ratio())}, {"effect", rounded(time.effect)},
               {"a", side_json(time.a)},         {"b", side_json(time.b)}};
  if (const auto interval = time.interval())
    json["interval"] = {{"low", rounded(interval->low)}, {"high", rounded(interval->high)}};
  if (time.p_value) json["p_value"] = rounded(*time.p_value);
  if (!time.reason.empty()) json["reason"] = time.reason;
  if (time.smallest_detectable_effect)
    json["smallest_detectable_effect"] = rounded(*time.smallest_detectable_effect);
  if (time.samples_to_settle) json["samples_to_settle"] = *time.samples_to_settle;
  if (!time.suggestion.empty()) json["suggestion"] = time.suggestion;
  return json;
}

Json distance_json(const OutputDistance& distance) {
  Json json = {{"outputs", distance.num_outputs},
               {"max_ulp_bf16", distance.max_ulp_bf16},
               {"different_elements", distance.num_different},
               {"elements", distance.num_elements}};
  if (distance.relative_l2) json["relative_l2"] = rounded(*distance.relative_l2);
  return json;
}

Json outputs_json(const OutputComparison& outputs) {
  Json json = {{"prompts", outputs.num_prompts},
               {"equal", outputs.num_equal},
               {"a_unstable", outputs.a_unstable},
               {"b_unstable", outputs.b_unstable}};
  if (outputs.distance) json["distance"] = distance_json(*outputs.distance);
  if (!outputs.reason.empty()) json["reason"] = outputs.reason;
  if (!outputs.suggestion.empty()) json["suggestion"] = outputs.suggestion;
  return json;
}

Json state_json(const CaseState& state) {
  return {{"outcome", name_of(state.outcome)}, {"invalid_reasons", state.invalid_reasons}};
}

Json gates_json(const std::vector<Gate>& gates) {
  Json json = Json::array();
  for (const Gate gate : gates) json.push_back(name_of(gate));
  return json;
}

Json case_json(const CaseComparison& row) {
  Json json = {{"key", row.key},
               {"params", Json::object()},
               {"verdict", name_of(row.verdict)},
               {"newly_failing", row.newly_failing},
               {"gates", gates_json(row.gates)},
               {"times", Json::array()},
               {"counters", {{"compared", row.num_counters}, {"changed", Json::array()}}}};
  for (const auto& [name, value] : row.parameters) json["params"][name] = value;
  if (row.renamed_from) json["renamed_from"] = *row.renamed_from;
  if (!row.reason.empty()) json["reason"] = row.reason;
  if (row.a) json["a"] = state_json(*row.a);
  if (row.b) json["b"] = state_json(*row.b);
  for (const auto& time : row.times) json["times"].push_back(time_json(time));
  if (const auto* time = row.deciding_time()) json["deciding"] = time->metric;
  if (row.outputs) json["outputs"] = outputs_json(*row.outputs);
  for (const auto& change : row.counters)
    json["counters"]["changed"].push_back(
        {{"name", change.name}, {"a", counters_json(change.a)}, {"b", counters_json(change.b)}});
  return json;
}

Json options_json(const Comparison& comparison) {
  Json json = {{"min_effect", rounded(comparison.min_effect)},
               {"fail_on", gates_json(comparison.fail_on)},
               {"cross", comparison.cross}};
  if (comparison.noise_floor) json["noise_floor"] = rounded(*comparison.noise_floor);
  if (comparison.filter) json["filter"] = *comparison.filter;
  return json;
}

}  // namespace

Json to_json(const Comparison& comparison) {
  Json json = {
      {"schema", schema_json(kComparisonSchema)},
      {"a", {{"runs", runs_json(comparison.a)}}},
      {"b", {{"runs", runs_json(comparison.b)}}},
      {"options", options_json(comparison)},
      {"differences", Json::array()},
      {"cases", Json::array()},
      {"added", comparison.added},
      {"removed", comparison.removed},
      {"renamed", Json::array()},
      {"outputs", outputs_json(comparison.outputs())},
      {"counts", Json::object()},
      {"exit",
       {{"code", comparison.exit.code}, {"name", comparison.exit.name}, {"reason", comparison.exit.reason}}}};
  for (const auto& difference : comparison.differences)
    json["differences"].push_back({{"what", difference.what},
                                   {"a", difference.a},
                                   {"b", difference.b},
                                   {"why", difference.why},
                                   {"refused", difference.refused}});
  for (const auto& row : comparison.cases) json["cases"].push_back(case_json(row));
  for (const auto& [from, to] : comparison.renamed) json["renamed"].push_back({{"from", from}, {"to", to}});
  for (int i = 0; i < kNumCaseVerdicts; ++i) {
    const auto verdict = static_cast<CaseVerdict>(i);
    json["counts"][std::string(name_of(verdict))] = comparison.count(verdict);
  }
  return json;
}

}  // namespace branchmark
