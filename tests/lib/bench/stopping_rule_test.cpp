// The rules on made-up samples: no clock and no device takes part.

#include "branchmark/bench/stopping_rule.hpp"

#include <gtest/gtest.h>

#include <string>

#include "branchmark/base/random.hpp"

namespace branchmark {
namespace {

constexpr double kMillisecond = 1e6;

// A time with bell-shaped noise of this share.
double noisy(Random& random, double middle, double share) {
  return middle * (1 + share * static_cast<double>(random.normal()));
}

TEST(WarmUp, EndsWhenTheTimeIsFlat) {
  WarmUp rule({});
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(rule.done()) << i;
    rule.add(kMillisecond, std::nullopt, kMillisecond);
  }
  EXPECT_TRUE(rule.steady());
  EXPECT_TRUE(rule.done());
}

TEST(WarmUp, GoesOnWhileTheTimeFalls) {
  WarmUp rule({});
  double time = 2 * kMillisecond;
  for (int i = 0; i < 12; ++i) rule.add(time *= 0.97, std::nullopt, kMillisecond);
  EXPECT_FALSE(rule.done());
  for (int i = 0; i < 4; ++i) rule.add(time, std::nullopt, kMillisecond);
  EXPECT_TRUE(rule.steady());
}

TEST(WarmUp, OneOutlierIsNoSlope) {
  WarmUp rule({});
  for (const double time : {1.0, 1.0, 1.0, 5.0, 1.0})
    rule.add(time * kMillisecond, std::nullopt, kMillisecond);
  EXPECT_TRUE(rule.steady());
}

TEST(WarmUp, GoesOnWhileTheClockMoves) {
  WarmUp rule({});
  for (const double clock : {1200.0, 1400.0, 1600.0, 1800.0, 1980.0})
    rule.add(kMillisecond, clock, kMillisecond);
  EXPECT_FALSE(rule.done());
  for (int i = 0; i < 4; ++i) rule.add(kMillisecond, 1980.0, kMillisecond);
  EXPECT_TRUE(rule.steady());
}

TEST(WarmUp, HasACapInSamplesAndInTime) {
  WarmUp by_samples({.max_samples = 8});
  double time = kMillisecond;
  for (int i = 0; i < 8; ++i) by_samples.add(time *= 0.9, std::nullopt, kMillisecond);
  EXPECT_TRUE(by_samples.done());
  EXPECT_FALSE(by_samples.steady());

  WarmUp by_time({.budget_ns = 3 * kMillisecond});
  for (int i = 0; i < 3; ++i) by_time.add(time *= 0.9, std::nullopt, kMillisecond);
  EXPECT_TRUE(by_time.done());
  EXPECT_FALSE(by_time.steady());
}

TEST(StoppingRule, NeedsTheLeastNumberOfSamples) {
  StoppingRule rule({.min_samples = 10});
  for (int i = 0; i < 9; ++i) {
    rule.add(kMillisecond);
    EXPECT_EQ(rule.state(), Stop::go_on) << i;
  }
  rule.add(kMillisecond);
  EXPECT_EQ(rule.state(), Stop::narrow);
}

// Few samples have no 95% interval, whatever was asked for.
TEST(StoppingRule, NeedsAnInterval) {
  StoppingRule rule({.target_interval = 1, .min_samples = 1});
  for (int i = 0; i < 5; ++i) rule.add(kMillisecond);
  EXPECT_EQ(rule.state(), Stop::go_on);
  rule.add(kMillisecond);
  EXPECT_EQ(rule.state(), Stop::narrow);
}

TEST(StoppingRule, SamplesUntilNoiseIsAveragedOut) {
  Random random(1, "noise");
  StoppingRule rule({.target_interval = 0.01});
  while (rule.state() == Stop::go_on) {
    rule.add(noisy(random, kMillisecond, 0.03));
    rule.spend(kMillisecond);
  }
  EXPECT_EQ(rule.state(), Stop::narrow);
  // The half-width is about 2.5 σ / √n: some sixty samples for 3% of noise.
  EXPECT_GT(rule.num_samples(), 20);
  EXPECT_LT(rule.num_samples(), 300);
}

TEST(StoppingRule, IsInconclusiveWhenTheBudgetEnds) {
  Random random(1, "noise");
  StoppingRule rule({.target_interval = 1e-4, .budget_ns = 50 * kMillisecond});
  while (rule.state() == Stop::go_on) {
    rule.add(noisy(random, kMillisecond, 0.1));
    rule.spend(kMillisecond);
  }
  EXPECT_EQ(rule.state(), Stop::budget_spent);
  EXPECT_EQ(rule.num_samples(), 50);
}

// Samples that are not kept cost budget and bring nothing.
TEST(StoppingRule, SpendsOnSamplesThatAreNotKept) {
  StoppingRule rule({.budget_ns = 10 * kMillisecond});
  for (int i = 0; i < 10; ++i) rule.spend(kMillisecond);
  EXPECT_EQ(rule.state(), Stop::budget_spent);
  EXPECT_EQ(rule.num_samples(), 0);
}

}  // namespace
}  // namespace branchmark
