// From text to a Scenario: strict reading, overrides, rules across fields, defaults.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/scenario/scenario.hpp"

namespace branchmark {

// What the command line changes, applied to the JSON before it is validated: first the named ones, then `set`
// in order.
struct ScenarioOverrides {
  std::vector<std::string> set;           // "a.b.0=VALUE": dotted path; VALUE as JSON, else a string
  std::optional<std::string> preset;      // replaces model.preset and model.checkpoint
  std::optional<std::string> checkpoint;  // likewise; relative to the working folder
  std::optional<std::uint64_t> seed;      // prompts.seed and model.seed
};

// `argument` is a file, or the bare name of a shipped scenario (no such file and no separator or extension in
// it). Throws io where a file cannot be read and usage, with the JSON pointer, the value found and what was
// expected, for what it may not say.
Scenario load_scenario(const std::string& argument, const ScenarioOverrides& overrides = {});

// As load_scenario, from text. `origin` names it in messages; paths in it are relative to `folder`.
Scenario parse_scenario(std::string_view text, const std::string& origin, const std::filesystem::path& folder,
                        const ScenarioOverrides& overrides = {});

// The scenarios compiled in, which are the files of configs/.
struct ShippedScenario {
  std::string_view name;
  std::string_view text;
};
const std::vector<ShippedScenario>& shipped_scenarios();

}  // namespace branchmark
