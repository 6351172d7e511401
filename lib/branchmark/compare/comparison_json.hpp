// A comparison as JSON: results-schema/comparison.schema.json.
#pragma once

#include "branchmark/base/json.hpp"
#include "branchmark/compare/comparison.hpp"

namespace branchmark {

// Same inputs, same bytes. What does not apply is left out; nothing is null but what a report did not say.
Json to_json(const Comparison& comparison);

}  // namespace branchmark
