// The steps of loading, in order: overrides on the JSON, JSON to structs, rules across fields.
#pragma once

#include <filesystem>
#include <string>

#include "branchmark/base/json.hpp"
#include "branchmark/scenario/load.hpp"
#include "branchmark/scenario/scenario.hpp"

namespace branchmark {

// Longest length that a scenario may state, in tokens: four times what any preset has positions for.
inline constexpr std::int64_t kMaxLengthTokens = 1 << 20;
inline constexpr std::size_t kMaxListItems = 4096;

// Throws usage for an override that has no place in the document.
void apply_overrides(Json& document, const ScenarioOverrides& overrides);

// Checks every key, type and range. Throws usage.
Scenario scenario_from_json(const Json& document, const std::string& origin,
                            const std::filesystem::path& folder);

// What no single key shows. Throws usage, naming the JSON pointer.
void check_rules(const Scenario& scenario, const std::string& origin);

}  // namespace branchmark
