#include "branchmark/compare/holm.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace branchmark {

std::vector<double> holm_adjusted(std::span<const double> probabilities) {
  std::vector<std::size_t> ascending(probabilities.size());
  std::iota(ascending.begin(), ascending.end(), 0);
  std::sort(ascending.begin(), ascending.end(),
            [&](std::size_t x, std::size_t y) { return probabilities[x] < probabilities[y]; });
  std::vector<double> adjusted(probabilities.size());
  double largest = 0;
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const auto num_left = static_cast<double>(ascending.size() - i);
    largest = std::max(largest, std::min(1.0, num_left * probabilities[ascending[i]]));
    adjusted[ascending[i]] = largest;
  }
  return adjusted;
}

}  // namespace branchmark
