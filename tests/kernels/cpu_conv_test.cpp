// The CPU module's convolution against its formula, and the bits of branches and continuations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sequence/compare.hpp"
#include "sequence/conv.hpp"

namespace branchmark::cpu::test {
namespace {

TEST(CpuConv, FollowsTheFormula) {
  for (const bmk_dtype type : {BMK_BF16, BMK_F32}) {
    const Array x = normal_array(type, 150, 328, 2);
    const Array weight = normal_array(BMK_BF16, 328, 4, 3);
    const Array out = run_conv(x, weight, {{0, 150, -1}})[0].out;
    std::vector<double> want;
    for (int64_t r = 0; r < 150; ++r) {
      for (int64_t c = 0; c < 328; ++c) {
        double sum = 0.0;
        for (int64_t tap = std::max<int64_t>(0, 3 - r); tap < 4; ++tap) {
          sum += static_cast<double>(weight.at(c, tap)) * static_cast<double>(x.at(r - 3 + tap, c));
        }
        want.push_back(sum / (1.0 + std::exp(-sum)));
      }
    }
    EXPECT_LE(relative_l2(values_of(out), want), type == BMK_F32 ? 1e-6 : 4e-3);
  }
}

TEST(CpuConv, BranchesAndContinuationsHaveTheBitsOfOnePass) {
  const Array x = normal_array(BMK_BF16, 200, 328, 4);
  const Array weight = normal_array(BMK_BF16, 328, 4, 5);
  const ConvResult whole = run_conv(x, weight, {{0, 200, 128}})[0];
  EXPECT_TRUE(whole.history == x.slice(125, 3));
  // Branches of 1 to 4 tokens, whose taps lie in the history, in both, or all in the branch.
  const std::vector<ConvPiece> pieces = {{64, 1, 1}, {64, 2, 2}, {128, 3, 3}, {128, 4, 4}, {64, 100, 64}};
  for (const int64_t num_threads : {1, 3}) {
    const std::vector<ConvResult> parts = run_conv(x, weight, pieces, num_threads);
    for (size_t s = 0; s < pieces.size(); ++s) {
      EXPECT_TRUE(parts[s].out == whole.out.slice(pieces[s].first, pieces[s].rows)) << s;
      EXPECT_TRUE(parts[s].history == x.slice(pieces[s].first + pieces[s].history_at - 3, 3)) << s;
    }
  }
}

TEST(CpuConv, HistoryWithoutRowsIsTheOneBeforeOrZeros) {
  const Array x = normal_array(BMK_BF16, 66, 16, 6);
  const Array weight = normal_array(BMK_BF16, 16, 4, 7);
  const std::vector<ConvResult> results = run_conv(x, weight, {{64, 0, 0}, {0, 0, 0}, {0, 2, 1}});
  const Array zeros = Array(BMK_BF16, 3, 16).fill([](int64_t, int64_t) { return 0.0f; });
  EXPECT_TRUE(results[0].history == x.slice(61, 3));
  EXPECT_TRUE(results[1].history == zeros);
  Array one = zeros.slice(0, 2);
  one.append(x.slice(0, 1));
  EXPECT_TRUE(results[2].history == one);
}

}  // namespace
}  // namespace branchmark::cpu::test
