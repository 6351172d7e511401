#include "branchmark/base/statistics.hpp"

#include <gtest/gtest.h>

#include <array>

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

}  // namespace
}  // namespace branchmark
