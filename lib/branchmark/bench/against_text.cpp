#include "branchmark/bench/against_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "branchmark/base/statistics.hpp"

namespace branchmark {
namespace {

constexpr std::size_t kCasesNamed = 5;

struct Pair {
  std::string of;  // the case's key, without "against/of="
  double ratio = 0;
  std::optional<Interval> interval;

  // How far the interval stays off 1, in either direction; 0 where it holds 1 or there is none.
  double distance() const {
    if (!interval || (interval->low <= 1 && interval->high >= 1)) return 0;
    return std::min(std::abs(std::log(interval->low)), std::abs(std::log(interval->high)));
  }
};

// Device times, which on a CPU are the wall's but for the call itself; those that are surest to differ first.
std::vector<Pair> valid_pairs(const Report& report) {
  std::vector<Pair> pairs;
  for (const auto& record : report.cases) {
    const auto found = record.metrics.find("device_ratio");
    if (record.check != "against" || !record.invalid_reasons.empty() || found == record.metrics.end() ||
        found->second.samples.empty())
      continue;
    auto sorted = found->second.samples;
    std::sort(sorted.begin(), sorted.end());
    pairs.push_back({record.key().substr(std::string("against/of=").size()), quantile(sorted, 0.5),
                     median_interval(sorted)});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& one, const Pair& other) { return one.distance() > other.distance(); });
  return pairs;
}

std::string build_text(const KernelsInfo& kernels) {
  return fmt::format("{} ({})", kernels.path, kernels.build_id);
}

std::string outputs_text(const Report& report) {
  std::size_t compared = 0;
  std::vector<std::string> changed;
  for (const auto& record : report.cases) {
    if (record.check != "against" || !record.witness.contains("outputs_compared")) continue;
    ++compared;
    const auto differs = [](const Finding& finding) { return finding.id == "outputs_changed"; };
    if (std::any_of(record.findings.begin(), record.findings.end(), differs))
      changed.push_back(record.key().substr(std::string("against/of=").size()));
  }
  auto text = fmt::format("Outputs: {} of {} cases have the same bits on both sides.\n",
                          compared - changed.size(), compared);
  for (std::size_t i = 0; i < std::min(changed.size(), kCasesNamed); ++i)
    text += fmt::format("  changed  {}\n", changed[i]);
  if (changed.size() > kCasesNamed) text += fmt::format("  and {} more\n", changed.size() - kCasesNamed);
  return text;
}

std::string times_text(const std::vector<Pair>& pairs) {
  if (pairs.empty()) return "";
  std::vector<double> ratios;
  for (const auto& pair : pairs) ratios.push_back(pair.ratio);
  const auto differ =
      std::count_if(pairs.begin(), pairs.end(), [](const Pair& pair) { return pair.distance() > 0; });
  auto text = fmt::format(
      "Time: side b takes {:.3f} of side a's, in the median of {} cases. In {} of them the ratio's 95% "
      "interval "
      "does not hold 1{}\n",
      median(ratios), pairs.size(), differ, differ > 0 ? "; the surest:" : ".");
  for (std::size_t i = 0; i < std::min(static_cast<std::size_t>(differ), kCasesNamed); ++i)
    text += fmt::format("  {:.3f} [{:.3f}, {:.3f}]  {}\n", pairs[i].ratio, pairs[i].interval->low,
                        pairs[i].interval->high, pairs[i].of);
  return text;
}

}  // namespace

std::string against_text(const Report& report) {
  if (!report.kernels_against) return "";
  return fmt::format("\nSide a is {}, side b {}.\n",
                     report.kernels ? build_text(*report.kernels) : "not known",
                     build_text(*report.kernels_against)) +
         outputs_text(report) + times_text(valid_pairs(report));
}

}  // namespace branchmark
