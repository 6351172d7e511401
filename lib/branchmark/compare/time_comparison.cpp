#include "branchmark/compare/time_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "branchmark/compare/holm.hpp"
#include "branchmark/compare/rank_test.hpp"
#include "branchmark/compare/student.hpp"

namespace branchmark {
namespace {

constexpr std::size_t kNumResamplings = 2000;
constexpr std::size_t kTail = 50;  // 2.5% of them
// Fewer hold no interval of the median at 95%.
constexpr std::size_t kMinSamples = 6;
// Of the normal distribution: what 95% of it lie within, and with what is below 80% added to that.
constexpr double kNormal95 = 1.96;
constexpr double kNormal95And80 = 1.96 + 0.84;
// No one takes more than this many times as many samples.
constexpr double kMostTimes = 100;

// The spread between runs, from every side that has several.
struct BetweenRuns {
  double difference = 0;  // of the means of the logarithms, B less A
  double error = 0;       // its standard error
  std::int64_t degrees = 0;
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double squares(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum;
}

BetweenRuns between_runs(const Samples& a, const Samples& b) {
  const auto logs_a = a.log_medians();
  const auto logs_b = b.log_medians();
  const auto runs_a = static_cast<double>(logs_a.size());
  const auto runs_b = static_cast<double>(logs_b.size());
  BetweenRuns found;
  found.degrees = std::ssize(logs_a) + std::ssize(logs_b) - 2;
  found.difference = mean(logs_b) - mean(logs_a);
  const double variance = (squares(logs_a) + squares(logs_b)) / static_cast<double>(found.degrees);
  found.error = std::sqrt(variance * (1 / runs_a + 1 / runs_b));
  return found;
}

Interval bootstrap_interval(const Samples& a, const Samples& b) {
  auto differences = b.resampled_log_medians(kNumResamplings);
  const auto of_a = a.resampled_log_medians(kNumResamplings);
  for (std::size_t i = 0; i < kNumResamplings; ++i) differences[i] -= of_a[i];
  std::sort(differences.begin(), differences.end());
  return {differences[kTail], differences[kNumResamplings - 1 - kTail]};
}

CaseVerdict verdict_of(const TimeComparison& time) {
  if (!time.log_interval) return CaseVerdict::inconclusive;
  const auto& [low, high] = *time.log_interval;
  const double band = std::log1p(time.effect);
  const bool differs = time.p_value && *time.p_value <= kSignificance && (low > 0 || high < 0);
  if (differs && time.log_ratio > band) return CaseVerdict::slower;
  if (differs && time.log_ratio < -band) return CaseVerdict::faster;
  return low >= -band && high <= band ? CaseVerdict::same : CaseVerdict::inconclusive;
}

void explain(TimeComparison& time) {
  if (!time.log_interval) {
    time.reason = fmt::format("{} and {} samples, expected at least {} on each side",
                              time.a.samples.num_samples(), time.b.samples.num_samples(), kMinSamples);
    return;
  }
  const double half = (time.log_interval->high - time.log_interval->low) / 2;
  const double band = std::log1p(time.effect);
  const double distance = std::abs(time.log_ratio);
  time.smallest_detectable_effect = std::expm1(half / kNormal95 * kNormal95And80);
  time.reason = distance <= band ? "the interval reaches beyond the band"
                                 : "the medians differ, but no more than their samples' noise may make them";
  // How narrow the interval has to become: to lie inside the band, or to leave 1 out. It narrows with the
  // square root of the number of samples.
  const double wanted = distance <= band ? band - distance : distance;
  const double times = wanted > 0 ? half * half / (wanted * wanted) : kMostTimes + 1;
  if (times > kMostTimes) return;
  const auto taken = std::max(time.a.samples.num_samples() / time.a.samples.runs().size(),
                              time.b.samples.num_samples() / time.b.samples.runs().size());
  time.samples_to_settle =
      static_cast<std::int64_t>(std::ceil(std::max(1.5, 1.2 * times) * static_cast<double>(taken) / 10)) * 10;
}

}  // namespace

TimeComparison compare_times(std::string metric, Samples a, Samples b, double effect) {
  TimeComparison time{.metric = std::move(metric),
                      .a = {a, a.median()},
                      .b = {b, b.median()},
                      .effect = std::max(effect, kLeastDifferenceNs / std::min(a.median(), b.median())),
                      .log_ratio = std::log(b.median()) - std::log(a.median()),
                      .log_interval = {},
                      .p_value = {},
                      .reason = {},
                      .smallest_detectable_effect = {},
                      .samples_to_settle = {},
                      .suggestion = {}};
  if (a == b) {
    time.log_interval = Interval{0, 0};
    time.p_value = 1;
    return time;
  }
  if (std::min(a.num_samples(), b.num_samples()) < kMinSamples) return time;
  auto interval = bootstrap_interval(a, b);
  if (a.runs().size() == 1 && b.runs().size() == 1) {
    time.p_value = rank_test(a.runs()[0], b.runs()[0]);
  } else {
    const auto runs = between_runs(a, b);
    const double reach = student_95(runs.degrees) * runs.error;
    interval.low = std::min(interval.low, time.log_ratio - reach);
    interval.high = std::max(interval.high, time.log_ratio + reach);
    time.p_value = runs.difference == 0 ? 1 : student_two_sided(runs.difference / runs.error, runs.degrees);
  }
  time.log_interval = interval;
  return time;
}

void decide_verdicts(const std::vector<TimeComparison*>& times) {
  std::vector<TimeComparison*> tested;
  std::vector<double> probabilities;
  for (auto* time : times) {
    if (!time->p_value) continue;
    tested.push_back(time);
    probabilities.push_back(*time->p_value);
  }
  const auto adjusted = holm_adjusted(probabilities);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->p_value = adjusted[i];
  for (auto* time : times) {
    time->verdict = verdict_of(*time);
    if (time->verdict == CaseVerdict::inconclusive) explain(*time);
  }
}

}  // namespace branchmark
