// The mathematics of spec/model.md in float64, written from the text alone, one token after another: the
// delta rule as a recurrence, attention as a plain softmax. It shares no code with the product, only the
// sizes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "branchmark/model/config.hpp"
#include "branchmark/model/prefix_tree.hpp"

namespace branchmark::test {

// Tensors by their names in a checkpoint, without its prefix, row-major, with the values as stored.
using Tensors = std::map<std::string, std::vector<double>>;

// [tokens, hidden] after the final norm.
std::vector<double> last_hidden(const ModelConfig& config, const Tensors& tensors, const Prompt& prompt);

}  // namespace branchmark::test
