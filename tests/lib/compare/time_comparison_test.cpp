// What may be relied upon of a verdict, on samples whose truth is known.
#include "branchmark/compare/time_comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lib/compare/simulated.hpp"

namespace branchmark {
namespace {

using test::Noise;

constexpr double kEffect = 0.02;

TimeComparison verdict_between(std::vector<std::vector<double>> a, std::vector<std::vector<double>> b,
                               double effect = kEffect) {
  auto time = compare_times("device_ns", Samples(std::move(a)), Samples(std::move(b)), effect);
  decide_verdicts({&time});
  return time;
}

struct Tally {
  int trials = 0, slower = 0, faster = 0, same = 0, inconclusive = 0;

  double share(int count) const { return static_cast<double>(count) / trials; }
};

Tally simulate(std::size_t runs, std::size_t n, double shift, Noise noise, int trials = 200) {
  Random random(runs * 1000 + n, "simulate" + std::to_string(shift));
  Tally tally{.trials = trials};
  for (int trial = 0; trial < trials; ++trial) {
    auto a = test::simulated_runs(random, runs, n, 1e6, noise);
    auto b = test::simulated_runs(random, runs, n, 1e6 * (1 + shift), noise);
    switch (verdict_between(std::move(a), std::move(b)).verdict) {
      case CaseVerdict::slower:
        ++tally.slower;
        break;
      case CaseVerdict::faster:
        ++tally.faster;
        break;
      case CaseVerdict::same:
        ++tally.same;
        break;
      default:
        ++tally.inconclusive;
    }
  }
  return tally;
}

TEST(TimeVerdict, IdenticalCodeIsSeldomCalledSlower) {
  for (const double noise : {0.003, 0.01, 0.05, 0.2})
    for (const std::size_t n : {std::size_t{10}, std::size_t{40}}) {
      const auto tally = simulate(1, n, 0, {.within_runs = noise});
      EXPECT_LE(tally.share(tally.slower), 0.05) << noise << " " << n;
      EXPECT_LE(tally.share(tally.faster), 0.05) << noise << " " << n;
    }
}

// Shifts between runs are in no sample of one run, but in several runs' medians.
TEST(TimeVerdict, RunsThatShiftAreSeldomCalledSlower) {
  for (const std::size_t runs : {std::size_t{2}, std::size_t{3}, std::size_t{6}})
    for (const double between : {0.01, 0.04}) {
      const auto tally = simulate(runs, 20, 0, {.within_runs = 0.01, .between_runs = between});
      EXPECT_LE(tally.share(tally.slower), 0.05) << runs << " " << between;
      EXPECT_LE(tally.share(tally.faster), 0.05) << runs << " " << between;
    }
}

TEST(TimeVerdict, ThreePercentAtOnePercentNoiseIsFound) {
  for (const std::size_t n : {std::size_t{10}, std::size_t{20}, std::size_t{100}}) {
    const auto up = simulate(1, n, 0.03, {.within_runs = 0.01, .outliers = 0}, 400);
    const auto down = simulate(1, n, -0.03, {.within_runs = 0.01, .outliers = 0}, 400);
    EXPECT_GE(up.share(up.slower), 0.95) << n;
    EXPECT_GE(down.share(down.faster), 0.95) << n;
  }
  const auto disturbed = simulate(1, 20, 0.03, {.within_runs = 0.01});
  EXPECT_GE(disturbed.share(disturbed.slower), 0.95);
  const auto over_runs = simulate(3, 20, 0.03, {.within_runs = 0.01, .between_runs = 0.002});
  EXPECT_GE(over_runs.share(over_runs.slower), 0.95);
}

TEST(TimeVerdict, WhatIsBelowTheEffectIsNotSlower) {
  const auto tally = simulate(1, 100, 0.01, {.within_runs = 0.003});
  EXPECT_GE(tally.share(tally.same), 0.95);
  EXPECT_EQ(tally.slower, 0);
}

// An op of 3 us is 0.07 us slower where its operands lie elsewhere: 2.2 % that are no change of the code.
TEST(TimeVerdict, TensOfNanosecondsAreNoDifference) {
  Random random(7, "short");
  const auto op = test::simulated_runs(random, 1, 40, 3000, {.within_runs = 0.002});
  const auto moved = test::simulated_runs(random, 1, 40, 3070, {.within_runs = 0.002});
  const auto slower = test::simulated_runs(random, 1, 40, 3150, {.within_runs = 0.002});
  EXPECT_EQ(verdict_between(op, moved).verdict, CaseVerdict::same);
  EXPECT_EQ(verdict_between(op, slower).verdict, CaseVerdict::slower);
  EXPECT_EQ(verdict_between(slower, op).verdict, CaseVerdict::faster);
}

TEST(TimeVerdict, QuietSamplesOfIdenticalCodeAreProvenTheSame) {
  const auto one = simulate(1, 20, 0, {.within_runs = 0.005});
  EXPECT_GE(one.share(one.same), 0.97);
  const auto several = simulate(3, 20, 0, {.within_runs = 0.005, .between_runs = 0.001});
  EXPECT_GE(several.share(several.same), 0.97);
}

TEST(TimeVerdict, TheIntervalHoldsTheTrueRatioAsOftenAsItSays) {
  Random random(6, "coverage");
  int held = 0;
  constexpr int kTrials = 500;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto interval = verdict_between(test::simulated_runs(random, 1, 20, 1e6, {}),
                                          test::simulated_runs(random, 1, 20, 1.1e6, {}))
                              .interval();
    ASSERT_TRUE(interval);
    held += interval->low <= 1.1 && 1.1 <= interval->high ? 1 : 0;
  }
  EXPECT_GE(held, 0.93 * kTrials);
  EXPECT_LE(held, 0.985 * kTrials);
}

TEST(TimeVerdict, ExchangingTheSidesFlipsIt) {
  Random random(5, "swap");
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t runs_a = 1 + trial % 3;
    const std::size_t runs_b = 1 + trial / 3 % 2;
    const double shift = 1 + 0.03 * static_cast<double>(random.normal());
    const Noise noise{.within_runs = 0.02, .between_runs = 0.005};
    const auto a = test::simulated_runs(random, runs_a, 4 + trial % 40, 1e6, noise);
    const auto b = test::simulated_runs(random, runs_b, 4 + trial % 23, 1e6 * shift, noise);
    const auto forth = verdict_between(a, b);
    const auto back = verdict_between(b, a);
    EXPECT_EQ(back.verdict, flipped(forth.verdict));
    EXPECT_EQ(back.log_ratio, -forth.log_ratio);
    EXPECT_EQ(back.p_value, forth.p_value);
    ASSERT_EQ(back.log_interval.has_value(), forth.log_interval.has_value());
    if (forth.log_interval) {
      EXPECT_EQ(back.log_interval->low, -forth.log_interval->high);
      EXPECT_EQ(back.log_interval->high, -forth.log_interval->low);
    }
    EXPECT_EQ(back.samples_to_settle, forth.samples_to_settle);
  }
}

TEST(TimeVerdict, TheSameSamplesAreTheSameHoweverFewOrNoisy) {
  for (const std::vector<std::vector<double>>& runs :
       {std::vector<std::vector<double>>{{5}}, {{1, 100, 3, 900, 2, 4}}, {{1, 2}, {70, 90}}}) {
    const auto time = verdict_between(runs, runs);
    EXPECT_EQ(time.verdict, CaseVerdict::same);
    EXPECT_EQ(time.ratio(), 1);
    EXPECT_EQ(time.interval()->low, 1);
    EXPECT_EQ(time.interval()->high, 1);
  }
}

TEST(TimeVerdict, TooFewSamplesAreInconclusive) {
  const auto time = verdict_between({{1, 1, 1, 1, 1}}, {{2, 2, 2, 2, 2}});
  EXPECT_EQ(time.verdict, CaseVerdict::inconclusive);
  EXPECT_FALSE(time.interval());
  EXPECT_NE(time.reason.find("at least 6"), std::string::npos) << time.reason;
}

TEST(TimeVerdict, InconclusiveSaysWhatWouldBeFoundAndHowManySamplesSettleIt) {
  Random random(8, "settle");
  const Noise noise{.within_runs = 0.04, .outliers = 0};
  int settled = 0;
  int tried = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const auto time = verdict_between(test::simulated_runs(random, 1, 10, 1e6, noise),
                                      test::simulated_runs(random, 1, 10, 1e6, noise));
    if (time.verdict != CaseVerdict::inconclusive) continue;
    ASSERT_TRUE(time.smallest_detectable_effect);
    EXPECT_GT(*time.smallest_detectable_effect, 0.02);
    EXPECT_LT(*time.smallest_detectable_effect, 0.2);
    if (!time.samples_to_settle) continue;
    EXPECT_GT(*time.samples_to_settle, 10);
    const auto n = static_cast<std::size_t>(*time.samples_to_settle);
    ++tried;
    // A new draw: the medians that were near the edge by chance are elsewhere.
    settled += verdict_between(test::simulated_runs(random, 1, n, 1e6, noise),
                               test::simulated_runs(random, 1, n, 1e6, noise))
                           .verdict == CaseVerdict::inconclusive
                   ? 0
                   : 1;
  }
  EXPECT_GT(tried, 20);
  EXPECT_GE(settled, tried / 2);
}

TEST(TimeVerdict, TheCorrectionKeepsManyCasesFromFindingOneByChance) {
  Random random(9, "many");
  int comparisons_with_a_finding = 0;
  constexpr int kComparisons = 100;
  for (int comparison = 0; comparison < kComparisons; ++comparison) {
    std::vector<TimeComparison> times;
    for (int i = 0; i < 40; ++i)
      times.push_back(
          compare_times("device_ns", Samples(test::simulated_runs(random, 1, 12, 1e6, {.within_runs = 0.1})),
                        Samples(test::simulated_runs(random, 1, 12, 1e6, {.within_runs = 0.1})), kEffect));
    std::vector<TimeComparison*> pointers;
    for (auto& time : times) pointers.push_back(&time);
    decide_verdicts(pointers);
    comparisons_with_a_finding +=
        std::any_of(times.begin(), times.end(),
                    [](const TimeComparison& time) {
                      return time.verdict == CaseVerdict::slower || time.verdict == CaseVerdict::faster;
                    })
            ? 1
            : 0;
  }
  EXPECT_LE(comparisons_with_a_finding, 10);
}

// A kernel that got 5% slower among 40 cases that did not.
TEST(TimeVerdict, OneSlowCaseAmongManyIsFoundAndNoOther) {
  Random random(10, "one of many");
  int found = 0;
  int others = 0;
  for (int comparison = 0; comparison < 50; ++comparison) {
    std::vector<TimeComparison> times;
    for (int i = 0; i < 40; ++i)
      times.push_back(compare_times("device_ns", Samples(test::simulated_runs(random, 1, 12, 1e6, {})),
                                    Samples(test::simulated_runs(random, 1, 12, i == 7 ? 1.05e6 : 1e6, {})),
                                    kEffect));
    std::vector<TimeComparison*> pointers;
    for (auto& time : times) pointers.push_back(&time);
    decide_verdicts(pointers);
    for (std::size_t i = 0; i < times.size(); ++i)
      if (times[i].verdict == CaseVerdict::slower) ++(i == 7 ? found : others);
  }
  EXPECT_GE(found, 48);
  EXPECT_LE(others, 2);
}

}  // namespace
}  // namespace branchmark
