#include "branchmark/base/distance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace branchmark {
namespace {

using Values = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Distance, IsRelativeToTheRightSide) {
  EXPECT_DOUBLE_EQ(relative_l2(Values{3, 4}, Values{0, 5}), std::sqrt(10.0) / 5);
  EXPECT_DOUBLE_EQ(relative_l2(Values{0, 5}, Values{30, 40}), std::sqrt(900.0 + 35 * 35) / 50);
  EXPECT_EQ(relative_l2(Values{0, 0}, Values{0, 0}), 0);
  EXPECT_TRUE(std::isinf(relative_l2(Values{1, 0}, Values{0, 0})));
  EXPECT_TRUE(std::isnan(relative_l2(Values{kNan, 0}, Values{1, 1})));
}

TEST(Distance, CountsTheValuesOfBf16Between) {
  EXPECT_EQ(max_ulp_bf16(Values{1, 2}, Values{1, 2}), 0);
  EXPECT_EQ(max_ulp_bf16(Values{1, 2}, Values{1.0078125f, 2}), 1);
  EXPECT_EQ(max_ulp_bf16(Values{1, 2}, Values{1.0078125f, 2.03125f}), 2) << "the largest, not the sum";
  EXPECT_EQ(max_ulp_bf16(Values{1}, Values{1.001f}), 0) << "rounded to bf16 first";
  EXPECT_EQ(max_ulp_bf16(Values{0.0f}, Values{-0.0f}), 0);
  EXPECT_EQ(max_ulp_bf16(Values{kNan}, Values{kNan}), 0);
  EXPECT_EQ(max_ulp_bf16(Values{kNan}, Values{1}), std::numeric_limits<std::int32_t>::max());
}

}  // namespace
}  // namespace branchmark
