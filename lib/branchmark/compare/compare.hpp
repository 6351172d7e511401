// Compares two sides: `branchmark compare`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "branchmark/compare/comparison.hpp"
#include "branchmark/compare/noise_floor.hpp"
#include "branchmark/compare/side.hpp"

namespace branchmark {

struct CompareOptions {
  double min_effect = 0.02;
  std::optional<NoiseFloor> noise_floor;
  std::vector<Gate> fail_on = {Gate::slower, Gate::outputs, Gate::counters, Gate::missing};
  bool cross = false;  // compares what would be refused
  std::optional<std::string> filter;
};

// Throws usage where the sides may not be compared or hold no case.
Comparison compare(Side a, Side b, const CompareOptions& options);

}  // namespace branchmark
