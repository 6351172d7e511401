#include "branchmark/base/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "branchmark/base/random.hpp"

namespace branchmark {
namespace {

TEST(Statistics, QuantileInterpolates) {
  const std::array<double, 4> samples = {1, 2, 3, 10};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.9), 7.9);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 10);
}

TEST(Statistics, OneSampleIsEveryQuantile) {
  const std::array<double, 1> one = {7};
  for (const double q : {0.0, 0.1, 0.5, 1.0}) EXPECT_EQ(quantile(one, q), 7);
}

std::vector<double> counted(int n) {
  std::vector<double> samples;
  for (int i = 1; i <= n; ++i) samples.push_back(i);
  return samples;
}

// Ranks of the tables for the sign test (binomial, 2.5% on each side).
TEST(Statistics, IntervalOfTheMedianByRanks) {
  EXPECT_FALSE(median_interval(counted(5)));
  for (const auto& [n, low] : std::map<int, int>{{6, 1},
                                                 {8, 1},
                                                 {9, 2},
                                                 {10, 2},
                                                 {15, 4},
                                                 {20, 6},
                                                 {25, 8},
                                                 {40, 14},
                                                 {100, 40},
                                                 {1000, 469},
                                                 {1001, 469},
                                                 {10000, 4902}}) {
    const auto interval = median_interval(counted(n));
    ASSERT_TRUE(interval) << n;
    EXPECT_EQ(interval->low, low) << n;
    EXPECT_EQ(interval->high, n + 1 - low) << n;
  }
}

TEST(Statistics, IntervalHoldsTheMedianOftenEnough) {
  Random random(1, "coverage");
  for (const int n : {6, 10, 25}) {
    int held = 0;
    constexpr int kTrials = 2000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> samples;
      // A long tail: e to the power of a bell-shaped value, whose median is 1.
      for (int i = 0; i < n; ++i) samples.push_back(std::exp(static_cast<double>(random.normal())));
      std::sort(samples.begin(), samples.end());
      const auto interval = median_interval(samples);
      held += interval->low <= 1 && 1 <= interval->high ? 1 : 0;
    }
    EXPECT_GE(held, 0.94 * kTrials) << n;
  }
}

TEST(Statistics, HalfWidthIsAShareOfTheMedian) {
  EXPECT_DOUBLE_EQ(*relative_half_width(counted(10)), (9.0 - 2.0) / 2 / 5.5);
  EXPECT_FALSE(relative_half_width(counted(3)));
  EXPECT_FALSE(relative_half_width(std::vector<double>(10, 0.0)));
}

TEST(Statistics, MedianOfUnsortedSamples) {
  EXPECT_DOUBLE_EQ(median(std::array{3.0, 1.0, 10.0, 2.0}), 2.5);
}

TEST(Statistics, SlopeIsNotTiltedByAnOutlier) {
  EXPECT_DOUBLE_EQ(median_slope(std::array{1.0, 3.0, 5.0, 7.0}), 2);
  EXPECT_DOUBLE_EQ(median_slope(std::array{1.0, 1.0, 1.0, 9.0, 1.0}), 0);
}

}  // namespace
}  // namespace branchmark
