// The small pure functions of the statistics, against tables and against counting by hand.
#include "branchmark/compare/rank_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "branchmark/compare/holm.hpp"
#include "branchmark/compare/student.hpp"
#include "lib/compare/simulated.hpp"

namespace branchmark {
namespace {

// U less its mean, counted pair by pair.
double distance_of_u(const std::vector<double>& a, const std::vector<double>& b) {
  double u = 0;
  for (const double x : a)
    for (const double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
  return std::abs(u - static_cast<double>(a.size() * b.size()) / 2);
}

// Every way of choosing which samples are a's.
double counted_by_hand(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::vector<bool> is_a(all.size());
  std::fill_n(is_a.begin(), a.size(), true);
  const double distance = distance_of_u(a, b);
  int ways = 0;
  int extreme = 0;
  do {
    std::vector<double> chosen, rest;
    for (std::size_t i = 0; i < all.size(); ++i) (is_a[i] ? chosen : rest).push_back(all[i]);
    ++ways;
    if (distance_of_u(chosen, rest) >= distance - 1e-9) ++extreme;
  } while (std::prev_permutation(is_a.begin(), is_a.end()));
  return static_cast<double>(extreme) / ways;
}

TEST(RankTest, CountsWhatOneCountsByHand) {
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> sides = {
      {{1, 2, 3, 4}, {5, 6, 7, 8}},
      {{1, 2, 3, 4, 9}, {5, 6, 7, 8, 0.5}},
      {{1, 2, 2, 3, 3}, {3, 4, 4, 5, 2}},  // ties within and across
      {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}},
      {{1, 2, 3}, {4, 5, 6, 7, 8, 9}}};
  for (const auto& [a, b] : sides) {
    ASSERT_TRUE(rank_test(a, b));
    EXPECT_DOUBLE_EQ(*rank_test(a, b), counted_by_hand(a, b));
    EXPECT_EQ(*rank_test(a, b), *rank_test(b, a));
  }
  EXPECT_DOUBLE_EQ(*rank_test(sides[0].first, sides[0].second), 2.0 / 70);
}

TEST(RankTest, SaysNothingWhereNoRanksCould) {
  EXPECT_FALSE(rank_test(std::vector{1.0, 2.0, 3.0}, std::vector{4.0, 5.0, 6.0}));
  EXPECT_FALSE(rank_test(std::vector{1.0}, std::vector<double>(30, 2.0)));
  EXPECT_FALSE(rank_test(std::vector<double>(), std::vector{1.0}));
}

// The exact form ends at 30 samples; one more may not make a jump.
TEST(RankTest, TheNormalFormContinuesTheExactOne) {
  Random random(1, "ranks");
  for (int trial = 0; trial < 20; ++trial) {
    auto a = test::simulated_run(random, 15, 100, {.within_runs = 0.02});
    const auto b = test::simulated_run(random, 15, 101, {.within_runs = 0.02});
    const double exact = *rank_test(a, b);
    a.push_back(quantile(Samples({a}).runs()[0], 0.5));
    const double normal = *rank_test(a, b);
    EXPECT_NEAR(std::log10(exact), std::log10(normal), 0.2 + 0.1 * std::abs(std::log10(exact)));
  }
}

TEST(Holm, GivesTheTextbookValues) {
  const auto adjusted = holm_adjusted(std::array{0.01, 0.04, 0.03, 0.005});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.02);
  EXPECT_EQ(holm_adjusted(std::array{0.9, 0.8}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm_adjusted({}).empty());
}

TEST(Student, GivesTheTabledValues) {
  for (const auto& [degrees, value] : std::map<int, double>{{1, 12.7062},
                                                            {2, 4.30265},
                                                            {3, 3.18245},
                                                            {4, 2.77645},
                                                            {5, 2.57058},
                                                            {10, 2.22814},
                                                            {30, 2.04227}}) {
    EXPECT_NEAR(student_95(degrees), value, 1e-5 * value) << degrees;
    EXPECT_NEAR(student_two_sided(-value, degrees), 0.05, 1e-6) << degrees;
  }
  EXPECT_NEAR(student_two_sided(9.92484, 2), 0.01, 1e-7);
  EXPECT_NEAR(student_two_sided(4.03214, 5), 0.01, 1e-7);
  EXPECT_DOUBLE_EQ(student_two_sided(0, 7), 1);
  EXPECT_NEAR(student_two_sided(INFINITY, 4), 0, 1e-15);
}

TEST(Samples, OrderOfRunsAndSamplesDecidesNothing) {
  const Samples one({{3, 1, 2}, {7, 5, 6}});
  const Samples other({{5, 6, 7}, {2, 3, 1}});
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.resampled_log_medians(50), other.resampled_log_medians(50));
  EXPECT_NE(one.resampled_log_medians(50), Samples({{1, 2, 3, 5, 6, 7}}).resampled_log_medians(50));
  EXPECT_DOUBLE_EQ(one.median(), 4);
  EXPECT_EQ(one.num_samples(), 6u);
}

TEST(Samples, RunsAreResampledBeforeTheirSamples) {
  const auto logs = Samples({{1, 1}, {2, 2}, {4, 4}}).resampled_log_medians(600);
  // The median of three drawn runs: the middle one in 13 of 27 draws, each outer one in 7.
  EXPECT_NEAR(static_cast<double>(std::count(logs.begin(), logs.end(), std::log(2))), 600.0 * 13 / 27, 50);
  EXPECT_NEAR(static_cast<double>(std::count(logs.begin(), logs.end(), std::log(1))), 600.0 * 7 / 27, 50);
  EXPECT_NEAR(static_cast<double>(std::count(logs.begin(), logs.end(), std::log(4))), 600.0 * 7 / 27, 50);
}

// Sides of equally many samples must not be drawn alike, or what both met would fall out of their ratio.
TEST(Samples, DifferentSamplesAreResampledIndependently) {
  Random random(2, "independence");
  const auto one = Samples({test::simulated_run(random, 50, 100, {})}).resampled_log_medians(2000);
  const auto other = Samples({test::simulated_run(random, 50, 100, {})}).resampled_log_medians(2000);
  const double mean_one = std::accumulate(one.begin(), one.end(), 0.0) / 2000;
  const double mean_other = std::accumulate(other.begin(), other.end(), 0.0) / 2000;
  double product = 0, squares_one = 0, squares_other = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    product += (one[i] - mean_one) * (other[i] - mean_other);
    squares_one += (one[i] - mean_one) * (one[i] - mean_one);
    squares_other += (other[i] - mean_other) * (other[i] - mean_other);
  }
  EXPECT_NEAR(product / std::sqrt(squares_one * squares_other), 0, 0.1);
}

// The interval's ends are quantiles of these: they have to spread as medians do.
TEST(Samples, ResampledMediansSpreadAsMediansDo) {
  for (const std::size_t n : {std::size_t{25}, std::size_t{400}, std::size_t{4000}}) {
    Random random(n, "spread");
    std::vector<double> medians;
    for (int trial = 0; trial < 400; ++trial)
      medians.push_back(std::log(Samples({test::simulated_run(random, n, 100, {})}).median()));
    const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / 400;
    double expected = 0;
    for (const double log : medians) expected += (log - mean) * (log - mean) / 400;
    double found = 0;
    for (int trial = 0; trial < 20; ++trial) {
      const Samples samples({test::simulated_run(random, n, 100, {})});
      const double centre = std::log(samples.median());
      for (const double log : samples.resampled_log_medians(500))
        found += (log - centre) * (log - centre) / (20 * 500);
    }
    EXPECT_NEAR(std::sqrt(found / expected), 1, 0.2) << n;
  }
}

}  // namespace
}  // namespace branchmark
