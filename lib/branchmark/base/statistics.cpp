#include "branchmark/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace branchmark {
namespace {

constexpr double kTail = 0.025;
// From here on 2^-n is close to what a double cannot hold, and the normal approximation is good to a rank.
constexpr std::size_t kLargeSample = 1000;

// The largest k with P(binomial(n, 1/2) < k) <= kTail: the rank, from 1, of the interval's lower end.
std::size_t lower_rank(std::size_t n) {
  const auto count = static_cast<double>(n);
  if (n > kLargeSample)
    return static_cast<std::size_t>(std::max(0.0, std::floor(count / 2 - 0.98 * std::sqrt(count))));
  double probability = std::exp2(-count);
  double below = 0;
  std::size_t rank = 0;
  while (below + probability <= kTail) {
    below += probability;
    ++rank;
    probability *= (count - static_cast<double>(rank) + 1) / static_cast<double>(rank);
  }
  return rank;
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - std::floor(position));
}

double median(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile(sorted, 0.5);
}

std::optional<Interval> median_interval(std::span<const double> sorted) {
  const auto rank = lower_rank(sorted.size());
  if (rank == 0) return std::nullopt;
  return Interval{sorted[rank - 1], sorted[sorted.size() - rank]};
}

std::optional<double> relative_half_width(std::span<const double> sorted) {
  const auto interval = median_interval(sorted);
  if (!interval) return std::nullopt;
  const double middle = quantile(sorted, 0.5);
  if (middle == 0) return std::nullopt;
  return (interval->high - interval->low) / 2 / std::abs(middle);
}

double median_slope(std::span<const double> samples) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < samples.size(); ++i)
    for (std::size_t j = i + 1; j < samples.size(); ++j)
      slopes.push_back((samples[j] - samples[i]) / static_cast<double>(j - i));
  return median(slopes);
}

}  // namespace branchmark
