// Outputs of a case on both sides: how many are the same bytes, and how far apart the others are.
#pragma once

#include <optional>
#include <vector>

#include "branchmark/compare/comparison.hpp"
#include "branchmark/compare/side.hpp"
#include "branchmark/report/kept_outputs.hpp"

namespace branchmark {

// The folders in which the runs of each side kept their outputs; empty where none did.
struct KeptOfSides {
  std::vector<KeptOutputs> a;
  std::vector<KeptOutputs> b;
};
KeptOfSides kept_of(const Side& a, const Side& b);
bool both_kept(const KeptOfSides& kept);

// Prompt by prompt: equal where every run of both sides has the same digest. Empty where a side has none.
// With several runs a side, distances are the largest between any of A and any of B. Throws usage where a
// kept file is not what its name says, io where it cannot be read.
std::optional<OutputComparison> compare_outputs(const SideCase& a, const SideCase& b,
                                                const KeptOfSides& kept);

}  // namespace branchmark
