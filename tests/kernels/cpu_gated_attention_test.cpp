// The CPU module's attention against a plain softmax, and the bits of segments and packed sequences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sequence/compare.hpp"
#include "sequence/gated_attention.hpp"

namespace branchmark::cpu::test {
namespace {

std::vector<double> attention_oracle(const AttentionInput& input) {
  std::vector<double> out;
  for (int64_t r = 0; r < input.rows(); ++r) {
    for (int64_t h = 0; h < input.query_heads; ++h) {
      const int64_t kv = 256 * (h * input.kv_heads / input.query_heads);
      std::vector<double> weights;
      for (int64_t j = 0; j <= r; ++j) {
        double score = 0.0;
        for (int64_t d = 0; d < 256; ++d) {
          score += static_cast<double>(input.query.at(r, 256 * h + d)) *
                   static_cast<double>(input.keys.at(j, kv + d));
        }
        weights.push_back(score / 16.0);
      }
      const double maximum = *std::max_element(weights.begin(), weights.end());
      double sum = 0.0;
      for (double& w : weights) sum += (w = std::exp(w - maximum));
      for (int64_t d = 0; d < 256; ++d) {
        double y = 0.0;
        for (int64_t j = 0; j <= r; ++j) {
          y += weights[static_cast<size_t>(j)] * static_cast<double>(input.values.at(j, kv + d));
        }
        const double gate = static_cast<double>(input.gates.at(r, 512 * h + 256 + d));
        out.push_back(y / sum / (1.0 + std::exp(-gate)));
      }
    }
  }
  return out;
}

TEST(CpuGatedAttention, StaysCloseToSoftmax) {
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_REFERENCE}) {
    const AttentionInput input = attention_input(activation(numerics), 200, 6, 2, 40);
    const double error = relative_l2(values_of(run_attention(input, numerics)), attention_oracle(input));
    RecordProperty("out" + std::to_string(numerics), std::to_string(error));
    EXPECT_LE(error, numerics == BMK_NUMERICS_DEFAULT ? 4e-3 : 2e-6);
    EXPECT_GE(error, numerics == BMK_NUMERICS_DEFAULT ? kLeastDefaultError : 0.0);
  }
}

TEST(CpuGatedAttention, SegmentsAndPackingChangeNoBit) {
  const AttentionInput input = attention_input(BMK_BF16, 330, 4, 2, 41);
  const Array whole = run_attention(input, BMK_NUMERICS_DEFAULT);
  ASSERT_TRUE(all_finite(whole));
  const std::vector<AttentionPiece> pieces = {
      {0, 1, {}},  {256, 74, {64, 192}}, {64, 3, {}},      {0, 0, {}},   {0, 65, {}},
      {64, 0, {}}, {192, 63, {128}},     {128, 100, {64}}, {0, 330, {}}, {320, 4, {64, 128, 256}},
  };
  for (const int64_t num_threads : {1, 3}) {
    const std::vector<Array> parts = run_attention(input, pieces, BMK_NUMERICS_DEFAULT, num_threads);
    for (size_t s = 0; s < pieces.size(); ++s) {
      EXPECT_TRUE(parts[s] == whole.slice(pieces[s].first, pieces[s].rows)) << s;
    }
  }
}

TEST(CpuGatedAttention, KeysPastARowCannotBeSeen) {
  AttentionInput input = attention_input(BMK_BF16, 150, 2, 1, 42);
  const Array out = run_attention(input, BMK_NUMERICS_DEFAULT);
  for (const int64_t row : {70, 140}) {
    for (int64_t d = 0; d < 256; ++d) {
      input.keys.set(row, d, kNan);
      input.values.set(row, d, kNan);
    }
  }
  const Array poisoned = run_attention(input, BMK_NUMERICS_DEFAULT);
  EXPECT_TRUE(poisoned.slice(0, 70) == out.slice(0, 70));
  EXPECT_TRUE(std::isnan(poisoned.at(70, 0)));
}

// Scores that rise by one a key, so that a tile leaves e^-64 of what came before it.
TEST(CpuGatedAttention, RescalesRisingScores) {
  AttentionInput input = attention_input(BMK_F32, 260, 1, 1, 43);
  input.query.fill([](int64_t, int64_t) { return 1.0f; });
  input.keys.fill([](int64_t r, int64_t) { return static_cast<float>(r) / 16.0f; });
  const Array out = run_attention(input, BMK_NUMERICS_REFERENCE);
  EXPECT_LE(relative_l2(values_of(out), attention_oracle(input)), 1e-6);
}

}  // namespace
}  // namespace branchmark::cpu::test
