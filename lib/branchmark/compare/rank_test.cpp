#include "branchmark/compare/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace branchmark {
namespace {

constexpr std::size_t kMaxExact = 30;

// Ranks from 1, doubled so that the mean rank of a tie is a whole number.
struct Ranks {
  std::vector<std::int64_t> doubled;  // ascending
  std::int64_t doubled_sum_of_a = 0;
  double ties = 0;  // the sum of t^3 - t over groups of t equal samples
};

Ranks rank(std::span<const double> a, std::span<const double> b) {
  struct Sample {
    double value;
    bool is_a;
  };
  std::vector<Sample> all;
  for (const double value : a) all.push_back({value, true});
  for (const double value : b) all.push_back({value, false});
  std::sort(all.begin(), all.end(), [](const Sample& x, const Sample& y) { return x.value < y.value; });
  Ranks ranks;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].value == all[begin].value) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      const auto doubled = static_cast<std::int64_t>(begin + 1 + end);
      ranks.doubled.push_back(doubled);
      if (all[i].is_a) ranks.doubled_sum_of_a += doubled;
    }
    const auto size = static_cast<double>(end - begin);
    ranks.ties += size * size * size - size;
    begin = end;
  }
  return ranks;
}

// The number of ways to choose `chosen` of `total`; exact up to kMaxExact.
double ways_to_choose(std::size_t total, std::size_t chosen) {
  double ways = 1;
  for (std::size_t i = 1; i <= chosen; ++i)
    ways = ways * static_cast<double>(total - chosen + i) / static_cast<double>(i);
  return std::round(ways);
}

// The share of all ways of choosing `chosen` ranks whose doubled sum is at least `distance` from `mean`.
double exact_share(const std::vector<std::int64_t>& doubled, std::size_t chosen, std::int64_t mean,
                   std::int64_t distance) {
  std::int64_t largest = 0;
  for (const auto rank : doubled) largest += rank;
  const auto width = static_cast<std::size_t>(largest) + 1;
  // ways[j * width + s]: how often j of the ranks seen so far sum to s.
  std::vector<double> ways((chosen + 1) * width, 0);
  ways[0] = 1;
  std::size_t seen_sum = 0;
  for (std::size_t seen = 0; seen < doubled.size(); ++seen) {
    const auto rank = static_cast<std::size_t>(doubled[seen]);
    seen_sum += rank;
    for (std::size_t j = std::min(chosen, seen + 1); j > 0; --j)
      for (std::size_t s = rank; s <= seen_sum; ++s) ways[j * width + s] += ways[(j - 1) * width + s - rank];
  }
  double extreme = 0;
  for (std::size_t s = 0; s < width; ++s)
    if (std::abs(static_cast<std::int64_t>(s) - mean) >= distance) extreme += ways[chosen * width + s];
  return extreme / ways_to_choose(doubled.size(), chosen);
}

}  // namespace

std::optional<double> rank_test(std::span<const double> a, std::span<const double> b) {
  const std::size_t total = a.size() + b.size();
  if (a.empty() || b.empty()) return std::nullopt;
  if (2 / ways_to_choose(total, std::min(a.size(), b.size())) > kSignificance) return std::nullopt;
  const auto ranks = rank(a, b);
  const auto mean = static_cast<std::int64_t>(a.size() * (total + 1));
  const auto distance = std::abs(ranks.doubled_sum_of_a - mean);
  if (total <= kMaxExact) return exact_share(ranks.doubled, a.size(), mean, distance);

  const auto n = static_cast<double>(total);
  const double variance = static_cast<double>(a.size()) * static_cast<double>(b.size()) / 12 *
                          (n + 1 - ranks.ties / (n * (n - 1)));
  if (variance <= 0) return 1;
  const double z = std::max(0.0, static_cast<double>(distance) / 2 - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

}  // namespace branchmark
