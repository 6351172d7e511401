#include "branchmark/scenario/load.hpp"

#include <fmt/format.h>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"
#include "branchmark/scenario/parse.hpp"

namespace branchmark {
namespace {

// A name, not a path: there is nothing in it that only a path would have.
bool is_bare_name(const std::string& argument) {
  return argument.find('/') == std::string::npos && !argument.ends_with(".json");
}

}  // namespace

Scenario parse_scenario(std::string_view text, const std::string& origin, const std::filesystem::path& folder,
                        const ScenarioOverrides& overrides) {
  Json document = parse_json(text, origin);
  apply_overrides(document, overrides);
  Scenario scenario = scenario_from_json(document, origin, folder);
  if (overrides.checkpoint && scenario.model.checkpoint->written == *overrides.checkpoint)
    scenario.model.checkpoint->resolved = std::filesystem::path(*overrides.checkpoint).lexically_normal();
  check_rules(scenario, origin);
  return scenario;
}

Scenario load_scenario(const std::string& argument, const ScenarioOverrides& overrides) {
  if (is_bare_name(argument)) {
    std::string known;
    for (const ShippedScenario& shipped : shipped_scenarios()) {
      if (shipped.name == argument) return parse_scenario(shipped.text, argument, {}, overrides);
      known += (known.empty() ? "" : ", ") + std::string(shipped.name);
    }
    if (!std::filesystem::is_regular_file(argument))
      throw Error(
          ErrorCode::usage,
          fmt::format("scenario {}: neither a file nor a shipped scenario, expected a file or one of {}",
                      argument, known));
  }
  // Far beyond any scenario, far below what would strain the machine.
  constexpr std::uint64_t kMaxBytes = 16u << 20;
  return parse_scenario(read_file(argument, kMaxBytes), argument,
                        std::filesystem::path(argument).parent_path(), overrides);
}

}  // namespace branchmark
