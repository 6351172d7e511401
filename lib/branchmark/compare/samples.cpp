#include "branchmark/compare/samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <string>

#include "branchmark/base/digest.hpp"
#include "branchmark/base/random.hpp"
#include "branchmark/base/statistics.hpp"

namespace branchmark {
namespace {

// From here on the rank of a resampled median is drawn instead of the samples: it is normal to within a rank.
constexpr std::size_t kLargeRun = 1000;

double middle(const std::vector<double>& sorted) {
  return quantile(sorted, 0.5);
}

// The median of one resampling of a run. `counts` is room for how often each sample is drawn.
double resampled_median(const std::vector<double>& sorted, Random& random,
                        std::vector<std::uint32_t>& counts) {
  const std::size_t n = sorted.size();
  if (n > kLargeRun) {
    const auto size = static_cast<double>(n);
    const double rank = (size + std::sqrt(size) * static_cast<double>(random.normal())) / 2;
    return sorted[static_cast<std::size_t>(std::clamp(rank, 0.0, size - 1))];
  }
  counts.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) ++counts[random.below(static_cast<std::uint32_t>(n))];
  // The order statistics on both sides of the middle, from 0; the same one where n is odd.
  const std::size_t lower = (n - 1) / 2;
  const std::size_t upper = n / 2;
  std::size_t at = 0;
  std::size_t passed = counts[0];
  while (passed <= lower) passed += counts[++at];
  const double first = sorted[at];
  while (passed <= upper) passed += counts[++at];
  return std::midpoint(first, sorted[at]);
}

}  // namespace

Samples::Samples(std::vector<std::vector<double>> runs) : runs_(std::move(runs)) {
  for (auto& run : runs_) std::sort(run.begin(), run.end());
  std::sort(runs_.begin(), runs_.end());
}

std::size_t Samples::num_samples() const {
  std::size_t count = 0;
  for (const auto& run : runs_) count += run.size();
  return count;
}

double Samples::median() const {
  std::vector<double> medians;
  for (const auto& run : runs_) medians.push_back(middle(run));
  return branchmark::median(medians);
}

std::vector<double> Samples::log_medians() const {
  std::vector<double> logs;
  for (const auto& run : runs_) logs.push_back(std::log(middle(run)));
  return logs;
}

std::uint64_t Samples::digest() const {
  Sha256 sha;
  for (const auto& run : runs_) {
    sha.update(std::to_string(run.size()) + " ");
    sha.update(std::as_bytes(std::span(run)));
  }
  return std::stoull(sha.hex().substr(0, 16), nullptr, 16);
}

std::vector<double> Samples::resampled_log_medians(std::size_t count) const {
  Random random(digest(), "resampling");
  std::vector<double> logs;
  std::vector<double> medians(runs_.size());
  std::vector<std::uint32_t> counts;
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& median : medians) {
      const auto& run =
          runs_.size() == 1 ? runs_[0] : runs_[random.below(static_cast<std::uint32_t>(runs_.size()))];
      median = resampled_median(run, random, counts);
    }
    logs.push_back(std::log(medians.size() == 1 ? medians[0] : branchmark::median(medians)));
  }
  return logs;
}

}  // namespace branchmark
