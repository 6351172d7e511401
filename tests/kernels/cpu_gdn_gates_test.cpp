// The CPU module's gates of the gated delta rule against their formulas, and at their edges.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "sequence/compare.hpp"
#include "sequence/gdn_gates.hpp"

namespace branchmark::cpu::test {
namespace {

TEST(CpuGdnGates, FollowTheFormula) {
  for (const bmk_dtype type : {BMK_BF16, BMK_F32}) {
    const GatesInput input = gates_input(type);
    const Gates gates = run_gates(input);
    for (int64_t r = 0; r < kGatesRows; ++r) {
      for (int64_t h = 0; h < kGatesHeads; ++h) {
        const double x = static_cast<double>(input.a.at(r, h) + input.dt_bias.at(0, h));
        const double step = x > 20.0 ? x : std::log1p(std::exp(x));
        const double want = -std::exp(static_cast<double>(input.a_log.at(0, h))) * step;
        ASSERT_NEAR(static_cast<double>(gates.g.at(r, h)), want, std::fabs(want) * 1e-6);
        ASSERT_LE(gates.g.at(r, h), 0.0f);
        const double sigmoid = 1.0 / (1.0 + std::exp(-static_cast<double>(input.b.at(r, h))));
        const float beta = gates.beta.at(r, h);
        ASSERT_NEAR(static_cast<double>(beta), sigmoid, sigmoid * (type == BMK_BF16 ? 0x1p-8 : 1e-6));
        ASSERT_EQ(beta, ops::round_to(beta, type));
      }
    }
  }
}

TEST(CpuGdnGates, AtTheirEdges) {
  GatesInput input = gates_input(BMK_F32);
  const float edges[] = {-kInfinity, -200.0f, -90.0f, 0.0f, 20.0f, 20.0001f, 50.0f, 1e30f};
  input.a.fill([&](int64_t, int64_t h) { return edges[h % 8]; });
  input.b.fill([&](int64_t, int64_t h) { return edges[h % 8]; });
  input.a_log.fill([](int64_t, int64_t) { return 2.7725887f; });  // A = 16
  input.dt_bias.fill([](int64_t, int64_t) { return 0.0f; });
  const Gates gates = run_gates(input);
  EXPECT_TRUE(all_finite(gates.g));
  EXPECT_TRUE(all_finite(gates.beta));
  EXPECT_EQ(gates.g.at(0, 0), 0.0f);
  EXPECT_EQ(gates.g.at(0, 1), 0.0f);
  EXPECT_NEAR(static_cast<double>(gates.g.at(0, 6)), -800.0, 1e-3);
  EXPECT_EQ(gates.beta.at(0, 0), 0.0f);
  EXPECT_EQ(gates.beta.at(0, 7), 1.0f);
}

}  // namespace
}  // namespace branchmark::cpu::test
