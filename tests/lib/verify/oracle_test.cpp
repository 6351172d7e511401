#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "branchmark/base/bf16.hpp"
#include "branchmark/verify/oracle/activations.hpp"
#include "branchmark/verify/oracle/attention.hpp"
#include "branchmark/verify/oracle/conv.hpp"
#include "branchmark/verify/oracle/gated_delta.hpp"
#include "branchmark/verify/oracle/norms.hpp"
#include "branchmark/verify/oracle/products.hpp"

namespace branchmark::oracle {
namespace {

TEST(Range, RoundsAsFloatDoes) {
  Random random(7, "oracle");
  for (int i = 0; i < 100000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    if (std::isnan(value)) continue;
    ASSERT_EQ(to_bf16(double{value}), double{bf16_to_float(float_to_bf16(value))}) << value;
  }
}

// Rounding to float32 first would take this to the tie, and the tie down to 1.
TEST(Range, RoundsOnce) {
  EXPECT_EQ(to_bf16(1.0 + 0x1p-8 + 0x1p-40), 1.0 + 0x1p-7);
}

TEST(Range, AnElementAwayFromATieHasOneValue) {
  const auto one = rounded(in_float32(exactly(1.001), kFewSteps), BMK_BF16);
  EXPECT_EQ(one.low, 1.0);
  EXPECT_EQ(one.high, 1.0);
  const auto tie = rounded(in_float32(exactly(1.0 + 0x1p-8), kFewSteps), BMK_BF16);
  EXPECT_EQ(tie.low, 1.0);
  EXPECT_EQ(tie.high, 1.0 + 0x1p-7);
}

TEST(Range, ProductsAndSiluKeepTheirEndsInOrder) {
  const Range product = Range{-2, -1, 1} * Range{3, 4, 5};
  EXPECT_EQ(product.low, -10);
  EXPECT_EQ(product.nominal, -4);
  EXPECT_EQ(product.high, 5);
  // SiLU falls, then rises: its least value lies inside.
  const Range valley = silu(Range{-3, -2, -0.5});
  EXPECT_NEAR(valley.low, -0.278464543, 1e-6);
  EXPECT_NEAR(valley.high, silu(-3.0), 1e-6);
}

TEST(Norms, ByHand) {
  HostMatrix x(1, 2, BMK_F32);
  x.values = {3.0f, 4.0f};
  HostMatrix weight(1, 2, BMK_F32);
  weight.values = {0.0f, 1.0f};
  const auto out = rms_norm(x, weight, 0.0);
  EXPECT_NEAR(out.at(0, 0).nominal, 3.0 / std::sqrt(12.5), 1e-12);
  EXPECT_NEAR(out.at(0, 1).nominal, 8.0 / std::sqrt(12.5), 1e-12);
}

TEST(Activations, DecayIsNeverPositiveAndMeetsItsLimits) {
  HostMatrix a(1, 3, BMK_F32);
  a.values = {50.0f, 0.0f, -100.0f};
  HostMatrix rate(1, 3, BMK_F32);
  rate.values = {std::log(16.0f), 0.0f, 0.0f};
  const HostMatrix bias(1, 3, BMK_F32);
  const auto g = gdn_decay(a, rate, bias);
  EXPECT_NEAR(g.at(0, 0).nominal, -800.0, 1e-3);
  EXPECT_NEAR(g.at(0, 1).nominal, -std::log(2.0), 1e-12);
  EXPECT_NEAR(g.at(0, 2).nominal, -std::exp(-100.0), 1e-50);
}

TEST(Conv, TapsAreOldestFirst) {
  HostMatrix x(2, 1, BMK_F32);
  x.values = {10.0f, 20.0f};
  HostMatrix history(3, 1, BMK_F32);
  history.values = {1.0f, 2.0f, 3.0f};
  HostMatrix weight(1, 4, BMK_F32);
  weight.values = {0.001f, 0.01f, 0.1f, 1.0f};
  const auto out = conv(x, weight, history);
  EXPECT_NEAR(out.at(0, 0).nominal, silu(10.321), 1e-6);
  EXPECT_NEAR(out.at(1, 0).nominal, silu(21.032), 1e-6);
}

TEST(Products, ExactSumWithAMarginOfItsTerms) {
  HostMatrix x(1, 2, BMK_F32);
  x.values = {1.0f, -1.0f};
  HostMatrix w(1, 2, BMK_F32);
  w.values = {1024.0f, 1023.0f};
  const auto y = gemm(x, w, BMK_F32);
  EXPECT_EQ(y.at(0, 0).nominal, 1.0);
  EXPECT_NEAR(y.at(0, 0).high, 1.0 + 2047 * 0x1p-20, 1e-12);
  HostMatrix a(1, 2, BMK_F32);
  a.values = {2.0f, 1.0f};
  HostMatrix b(1, 1, BMK_F32);
  b.values = {3.0f};
  HostMatrix base(1, 1, BMK_F32);
  base.values = {10.0f};
  EXPECT_EQ(lora_delta(x, a, b, 0.5, base).at(0, 0).nominal, 11.5);
}

// With one key direction and no decay, a full-strength write replaces what stood under the key.
TEST(GatedDelta, AWriteReplacesAndADecayForgets) {
  HostMatrix qkv(2, 3 * 128, BMK_F32);
  for (std::int64_t row = 0; row < 2; ++row) {
    qkv.at(row, 5) = 2.0f;                          // q along dim 5
    qkv.at(row, 128 + 5) = 7.0f;                    // k along dim 5
    qkv.at(row, 256 + 9) = row == 0 ? 3.0f : 8.0f;  // v along dim 9
  }
  HostMatrix g(2, 1, BMK_F32);
  HostMatrix beta(2, 1, BMK_F32);
  beta.values = {1.0f, 0.5f};
  const GatedDeltaInputs inputs{
      .key_heads = 1, .value_heads = 1, .qkv = &qkv, .g = &g, .beta = &beta, .state_in = {}};
  const double q_scale = 1.0 / std::sqrt(128.0);
  auto result = gated_delta(inputs, 2);
  EXPECT_NEAR(result.out[9], 3.0 * q_scale, 1e-6);
  EXPECT_NEAR(result.out[128 + 9], 5.5 * q_scale, 1e-6);
  EXPECT_NEAR(result.state[5 * 128 + 9], 5.5, 1e-6);

  g.values = {0.0f, -1e4f};
  result = gated_delta(inputs, 2);
  EXPECT_NEAR(result.out[128 + 9], 4.0 * q_scale, 1e-6);
  EXPECT_NEAR(gated_delta(inputs, 1).state[5 * 128 + 9], 3.0, 1e-6);
}

TEST(GatedDelta, ContinuesFromAState) {
  Random random(3, "gated_delta");
  const auto qkv = random_matrix(random, 6, 2 * 128 + 2 * 128, BMK_F32);
  const auto g = random_matrix(random, 6, 2, BMK_F32, 0.1f, -0.5f);
  const auto beta = random_matrix(random, 6, 2, BMK_F32, 0.1f, 0.5f);
  GatedDeltaInputs inputs{
      .key_heads = 1, .value_heads = 2, .qkv = &qkv, .g = &g, .beta = &beta, .state_in = {}};
  const auto whole = gated_delta(inputs, 4);
  const std::vector<float> state(whole.state.begin(), whole.state.end());
  const auto qkv_end = rows_of(qkv, 4, 2);
  const auto g_end = rows_of(g, 4, 2);
  const auto beta_end = rows_of(beta, 4, 2);
  inputs.qkv = &qkv_end;
  inputs.g = &g_end;
  inputs.beta = &beta_end;
  inputs.state_in = state;
  const auto rest = gated_delta(inputs, 0);
  for (std::size_t i = 0; i < rest.out.size(); ++i)
    EXPECT_NEAR(rest.out[i], whole.out[static_cast<std::size_t>(4 * 256) + i], 1e-6);
}

TEST(Attention, RowsSeeThePastOnly) {
  HostMatrix query(2, 256, BMK_F32);
  HostMatrix gate(2, 256, BMK_F32);
  HostMatrix keys(3, 256, BMK_F32);
  HostMatrix values(3, 256, BMK_F32);
  for (std::int64_t row = 0; row < 3; ++row) values.at(row, 0) = static_cast<float>(row + 1);
  // Equal scores: the mean of the values seen, times sigmoid(0).
  const auto out = gated_attention(query, gate, keys, values, 1);
  EXPECT_NEAR(out[0], 1.5 * 0.5, 1e-12);
  EXPECT_NEAR(out[256], 2.0 * 0.5, 1e-12);
  // A key of score 16 · 4 / 16 above the others.
  query.at(0, 3) = 16.0f;
  keys.at(1, 3) = 4.0f;
  const auto peaked = gated_attention(query, gate, keys, values, 1);
  EXPECT_NEAR(peaked[0], (1.0 + 2.0 * std::exp(4.0)) / (1.0 + std::exp(4.0)) * 0.5, 1e-9);
}

TEST(Attention, RotaryReadsThePositionOfItsSection) {
  HostMatrix x(1, 256, BMK_F32);
  for (auto& value : x.values) value = 1.0f;
  const HostMatrix weight(1, 256, BMK_F32);
  HostMatrix cosines(4, 32, BMK_F32);
  const HostMatrix sines(4, 32, BMK_F32);
  for (std::int64_t position = 0; position < 4; ++position)
    for (std::int64_t i = 0; i < 32; ++i) cosines.at(position, i) = static_cast<float>(position);
  const RotaryTables rotary{.cosines = &cosines,
                            .sines = &sines,
                            .positions = {{{1}, {2}, {3}}},
                            .section_height = 11,
                            .section_width = 10};
  const auto out = attention_heads(x, 1, 0, 256, weight, 0.0, rotary);
  EXPECT_NEAR(out.at(0, 0).nominal, 1.0, 1e-6);   // temporal
  EXPECT_NEAR(out.at(0, 1).nominal, 2.0, 1e-6);   // height
  EXPECT_NEAR(out.at(0, 2).nominal, 3.0, 1e-6);   // width
  EXPECT_NEAR(out.at(0, 29).nominal, 3.0, 1e-6);  // the last of width: 29 < 30
  EXPECT_NEAR(out.at(0, 31).nominal, 2.0, 1e-6);  // the last of height: 31 < 33
  EXPECT_NEAR(out.at(0, 30).nominal, 1.0, 1e-6);
  EXPECT_NEAR(out.at(0, 32 + 1).nominal, 2.0, 1e-6);
  EXPECT_NEAR(out.at(0, 64).nominal, 1.0, 1e-6);  // not turned
}

}  // namespace
}  // namespace branchmark::oracle
