// The CPU module's elementary functions against double, at their edges, and its order of summation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sequence/array.hpp"

namespace branchmark::cpu::test {
namespace {

// |got − want| in units of the last place of `want` rounded to float32.
double ulps(float got, double want) {
  const float magnitude = std::fabs(static_cast<float>(want));
  const float place = std::nextafter(magnitude, kInfinity) - magnitude;
  return std::fabs(static_cast<double>(got) - want) / static_cast<double>(place);
}

TEST(CpuMath, StaysCloseToDouble) {
  double exp_error = 0.0, log1p_error = 0.0, sigmoid_error = 0.0, silu_error = 0.0, softplus_error = 0.0;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 1543) {
    const float x = __builtin_bit_cast(float, static_cast<uint32_t>(bits));
    const double wide = static_cast<double>(x);
    if (x > -104.0f && x < 88.72f) exp_error = std::max(exp_error, ulps(ops::exp_f32(x), std::exp(wide)));
    if (x > -1.0f && x < kInfinity) {
      log1p_error = std::max(log1p_error, ulps(ops::log1p_f32(x), std::log1p(wide)));
    }
    if (x > -87.0f && x < 1e30f) {
      const double sigmoid = 1.0 / (1.0 + std::exp(-wide));
      sigmoid_error = std::max(sigmoid_error, ulps(ops::sigmoid(x), sigmoid));
      silu_error = std::max(silu_error, ulps(ops::silu(x), wide * sigmoid));
    }
    if (x > -104.0f && x <= 20.0f) {
      softplus_error = std::max(softplus_error, ulps(ops::softplus(x), std::log1p(std::exp(wide))));
    }
  }
  EXPECT_LE(exp_error, 1.0);
  EXPECT_LE(log1p_error, 1.0);
  EXPECT_LE(sigmoid_error, 2.5);
  EXPECT_LE(silu_error, 2.5);
  EXPECT_LE(softplus_error, 2.0);
}

TEST(CpuMath, ExpAtItsEdges) {
  EXPECT_EQ(ops::exp_f32(0.0f), 1.0f);
  EXPECT_EQ(ops::exp_f32(-0.0f), 1.0f);
  EXPECT_EQ(ops::exp_f32(-kInfinity), 0.0f);
  EXPECT_EQ(ops::exp_f32(-1e30f), 0.0f);
  EXPECT_EQ(ops::exp_f32(kInfinity), kInfinity);
  EXPECT_EQ(ops::exp_f32(88.8f), kInfinity);
  EXPECT_TRUE(std::isnan(ops::exp_f32(kNan)));
  // Subnormal results are kept.
  EXPECT_GT(ops::exp_f32(-100.0f), 0.0f);
  EXPECT_LT(ops::exp_f32(-100.0f), std::numeric_limits<float>::min());

  float previous = 0.0f;
  for (float x = -105.0f; x < 89.5f; x += 0x1p-12f) {
    const float value = ops::exp_f32(x);
    ASSERT_GE(value, previous) << x;
    previous = value;
  }
  // A decay never grows, and is exactly one where there is none.
  for (float x = -1e-9f; x > -1.0f; x *= 1.01f) ASSERT_LE(ops::exp_f32(x), 1.0f) << x;
}

TEST(CpuMath, OtherFunctionsAtTheirEdges) {
  EXPECT_EQ(ops::log1p_f32(0.0f), 0.0f);
  EXPECT_EQ(ops::log1p_f32(kInfinity), kInfinity);
  EXPECT_EQ(ops::log1p_f32(-1.0f), -kInfinity);
  EXPECT_TRUE(std::isnan(ops::log1p_f32(-1.5f)));
  EXPECT_TRUE(std::isnan(ops::log1p_f32(kNan)));
  EXPECT_EQ(ops::sigmoid(-kInfinity), 0.0f);
  EXPECT_EQ(ops::sigmoid(kInfinity), 1.0f);
  EXPECT_TRUE(std::isnan(ops::sigmoid(kNan)));
  EXPECT_EQ(ops::softplus(50.0f), 50.0f);
  EXPECT_EQ(ops::softplus(-200.0f), 0.0f);
  EXPECT_EQ(ops::softplus(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(ops::softplus(kNan)));
  EXPECT_EQ(ops::rsqrt_f32(16.0f), 0.25f);
}

TEST(CpuMath, RoundsToTheNearestEvenBf16) {
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 977) {
    const float x = __builtin_bit_cast(float, static_cast<uint32_t>(bits));
    const uint16_t got = ops::to_bf16(x);
    if (std::isnan(x)) {
      ASSERT_EQ(got, 0x7FC0);
      continue;
    }
    // Between the neighbours toward zero and away from it; the next after the largest finite one is infinity.
    const uint32_t below = static_cast<uint32_t>(bits) >> 16;
    const uint32_t remainder = static_cast<uint32_t>(bits) & 0xFFFF;
    const bool up = remainder > 0x8000 || (remainder == 0x8000 && (below & 1) != 0);
    ASSERT_EQ(got, below + (up ? 1 : 0)) << bits;
    ASSERT_EQ(ops::round_bf16(ops::from_bf16(got)), ops::from_bf16(got));
  }
  EXPECT_EQ(ops::to_bf16(kInfinity), 0x7F80);
  EXPECT_EQ(ops::to_bf16(std::numeric_limits<float>::max()), 0x7F80);
}

TEST(CpuMath, SumsInSixteenLanes) {
  std::vector<float> x(77);
  Random random(1);
  for (float& value : x) value = random.normal();
  float lanes[16] = {};
  for (size_t i = 0; i < x.size(); ++i) lanes[i % 16] += x[i];
  for (size_t width = 8; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  EXPECT_EQ(ops::sum16(77, [&](int64_t i) { return x[static_cast<size_t>(i)]; }), lanes[0]);
  EXPECT_EQ(ops::sum16(0, [&](int64_t) { return kNan; }), 0.0f);
}

}  // namespace
}  // namespace branchmark::cpu::test
