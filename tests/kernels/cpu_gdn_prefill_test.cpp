// The CPU module's gated delta rule against its token-by-token recurrence (never another chunked kernel), and
// the bits of continuations and packed sequences.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sequence/compare.hpp"
#include "sequence/gdn_prefill.hpp"

namespace branchmark::cpu::test {
namespace {

// The recurrence of the paper, one token at a time, in float64: S ← e^g S; u = beta (v − Sᵀk); S ← S + k uᵀ;
// o = Sᵀq.
struct GdnOracle {
  std::vector<double> out;    // [rows, 128 · value heads]
  std::vector<double> state;  // [value heads, 128, 128]
};

GdnOracle gdn_oracle(const GdnInput& input) {
  const int64_t width = 128 * input.value_heads;
  GdnOracle oracle{std::vector<double>(static_cast<size_t>(input.rows() * width)), {}};
  for (int64_t h = 0; h < input.value_heads; ++h) {
    std::vector<double> state(kStateSize, 0.0);
    const int64_t key_head = h * input.key_heads / input.value_heads;
    for (int64_t r = 0; r < input.rows(); ++r) {
      double q[128], k[128], u[128];
      double q_norm = 1e-6, k_norm = 1e-6;
      for (int64_t d = 0; d < 128; ++d) {
        q[d] = static_cast<double>(input.qkv.at(r, 128 * key_head + d));
        k[d] = static_cast<double>(input.qkv.at(r, 128 * (input.key_heads + key_head) + d));
        q_norm += q[d] * q[d];
        k_norm += k[d] * k[d];
      }
      for (int64_t d = 0; d < 128; ++d) {
        q[d] /= std::sqrt(q_norm * 128.0);
        k[d] /= std::sqrt(k_norm);
      }
      const double decay = std::exp(static_cast<double>(input.g.at(r, h)));
      for (double& x : state) x *= decay;
      for (int64_t e = 0; e < 128; ++e) {
        u[e] = static_cast<double>(input.qkv.at(r, 128 * (2 * input.key_heads + h) + e));
      }
      const double beta = static_cast<double>(input.beta.at(r, h));
      double* out = oracle.out.data() + r * width + 128 * h;
      for (size_t d = 0; d < 128; ++d) {
        for (size_t e = 0; e < 128; ++e) u[e] -= state[d * 128 + e] * k[d];
      }
      for (size_t d = 0; d < 128; ++d) {
        for (size_t e = 0; e < 128; ++e) {
          state[d * 128 + e] += k[d] * (beta * u[e]);
          out[e] += state[d * 128 + e] * q[d];
        }
      }
    }
    oracle.state.insert(oracle.state.end(), state.begin(), state.end());
  }
  return oracle;
}

// Runs a whole input and compares output and last state with the oracle.
struct GdnErrors {
  double out;
  double state;
};

GdnErrors gdn_errors(const GdnInput& input, bmk_numerics numerics) {
  const GdnResult result = run_gdn({{&input, 0, input.rows(), nullptr, input.rows()}}, numerics)[0];
  const GdnOracle oracle = gdn_oracle(input);
  return {relative_l2(values_of(result.out), oracle.out), relative_l2(values_of(result.state), oracle.state)};
}

TEST(CpuGdnPrefill, DefaultNumericsStayCloseToTheRecurrence) {
  const GdnErrors errors = gdn_errors(gdn_input(BMK_BF16, 320, 2, 4, 20), BMK_NUMERICS_DEFAULT);
  RecordProperty("out", std::to_string(errors.out));
  RecordProperty("state", std::to_string(errors.state));
  EXPECT_LE(errors.out, 1e-2);
  EXPECT_LE(errors.state, 1e-2);
  EXPECT_GE(errors.out, kLeastDefaultError);
  EXPECT_GE(errors.state, kLeastDefaultError);
}

TEST(CpuGdnPrefill, Float32StaysWithinRoundingOfTheRecurrence) {
  const GdnErrors reference = gdn_errors(gdn_input(BMK_F32, 320, 2, 6, 21), BMK_NUMERICS_REFERENCE);
  EXPECT_LE(reference.out, 1e-5);
  EXPECT_LE(reference.state, 1e-5);
  const GdnErrors fp32 = gdn_errors(gdn_input(BMK_BF16, 320, 2, 6, 22), BMK_NUMERICS_GDN_FP32);
  EXPECT_LE(fp32.out, 2e-3) << "the output alone is rounded";
  EXPECT_LE(fp32.state, 1e-5);
}

TEST(CpuGdnPrefill, NearDuplicateKeys) {
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_REFERENCE}) {
    GdnInput input = gdn_input(activation(numerics), 192, 1, 2, 23);
    const Array noise = normal_array(BMK_F32, 192, 128, 24, 0.05f);
    for (int64_t r = 0; r < 192; ++r) {
      for (int64_t d = 0; d < 128; ++d) input.qkv.set(r, 128 + d, input.qkv.at(0, 128 + d) + noise.at(r, d));
    }
    const GdnErrors errors = gdn_errors(input, numerics);
    RecordProperty("out" + std::to_string(numerics), std::to_string(errors.out));
    RecordProperty("state" + std::to_string(numerics), std::to_string(errors.state));
    const double bound = numerics == BMK_NUMERICS_DEFAULT ? 2e-2 : 1e-5;
    EXPECT_LE(errors.out, bound);
    EXPECT_LE(errors.state, bound);
  }
}

TEST(CpuGdnPrefill, EveryDecay) {
  // No decay at all, and from almost none to more than any softplus(50) with A of 16.
  for (const float g : {0.0f, -1e-6f, -1.0f, -20.0f, -80.0f, -800.0f, -1e4f}) {
    for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_REFERENCE}) {
      GdnInput input = gdn_input(activation(numerics), 192, 1, 1, 25);
      input.g.fill([&](int64_t, int64_t) { return g; });
      const GdnErrors errors = gdn_errors(input, numerics);
      const double bound = numerics == BMK_NUMERICS_DEFAULT ? 1e-2 : 1e-5;
      EXPECT_LE(errors.out, bound) << g;
      EXPECT_LE(errors.state, bound) << g;
    }
  }
}

TEST(CpuGdnPrefill, MixedExtremeDecaysStayFinite) {
  const float gates[] = {0.0f, -1e-6f, -1.0f, -20.0f, -80.0f, -1e4f};
  GdnInput input = gdn_input(BMK_BF16, 256, 1, 2, 26);
  Random random(27);
  input.g.fill([&](int64_t, int64_t) { return gates[static_cast<int64_t>(random.uniform() * 6.0f)]; });
  const GdnResult result = run_gdn({{&input, 0, 256, nullptr, 256}}, BMK_NUMERICS_DEFAULT)[0];
  EXPECT_TRUE(all_finite(result.out));
  EXPECT_TRUE(all_finite(result.state));
}

TEST(CpuGdnPrefill, ContinuationsHaveTheBitsOfOnePass) {
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_GDN_FP32}) {
    const GdnInput input = gdn_input(BMK_BF16, 255, 1, 2, 28);
    for (int64_t tail = 0; tail < 64; ++tail) {
      const int64_t rows = 192 + tail;
      const GdnResult whole = run_gdn({{&input, 0, rows, nullptr, 192}}, numerics)[0];
      ASSERT_TRUE(all_finite(whole.out));
      for (int64_t cut = 64; cut <= 192; cut += 64) {
        const GdnResult prefix = run_gdn({{&input, 0, cut, nullptr, cut}}, numerics)[0];
        const GdnResult rest = run_gdn({{&input, cut, rows - cut, &prefix.state, 192 - cut}}, numerics)[0];
        ASSERT_TRUE(prefix.out == whole.out.slice(0, cut)) << tail << ' ' << cut;
        ASSERT_TRUE(rest.out == whole.out.slice(cut, rows - cut)) << tail << ' ' << cut;
        ASSERT_TRUE(rest.state == whole.state) << tail << ' ' << cut;
      }
    }
  }
}

TEST(CpuGdnPrefill, PackedSequencesHaveTheBitsOfTheirSoloRuns) {
  const GdnInput input = gdn_input(BMK_BF16, 300, 2, 4, 29);
  const Array parent = run_gdn({{&input, 0, 64, nullptr, 64}}, BMK_NUMERICS_DEFAULT)[0].state;
  const Array before = parent;
  const std::vector<GdnPiece> pieces = {
      {&input, 0, 1, nullptr, 0},   {&input, 64, 63, &parent, -1}, {&input, 0, 0, nullptr, -1},
      {&input, 0, 65, nullptr, 64}, {&input, 64, 0, &parent, 0},   {&input, 64, 131, &parent, 64},
      {&input, 0, 300, nullptr, 0}, {&input, 64, 2, &parent, -1},
  };
  for (const int64_t num_threads : {1, 3}) {
    const std::vector<GdnResult> packed = run_gdn(pieces, BMK_NUMERICS_DEFAULT, num_threads);
    for (size_t s = 0; s < pieces.size(); ++s) {
      const GdnResult solo = run_gdn({pieces[s]}, BMK_NUMERICS_DEFAULT)[0];
      EXPECT_TRUE(packed[s].out == solo.out) << s;
      EXPECT_TRUE(packed[s].state == solo.state) << s;
      EXPECT_TRUE(all_finite(packed[s].out)) << s;
    }
  }
  EXPECT_TRUE(parent == before) << "a parent's state is read only";
}

TEST(CpuGdnPrefill, StateWithoutRowsIsTheOneBeforeOrZeros) {
  const GdnInput input = gdn_input(BMK_BF16, 64, 1, 2, 30);
  const Array parent = run_gdn({{&input, 0, 64, nullptr, 64}}, BMK_NUMERICS_DEFAULT)[0].state;
  const Array zeros = Array(BMK_F32, 2, kStateSize).fill([](int64_t, int64_t) { return 0.0f; });
  const std::vector<GdnResult> results =
      run_gdn({{&input, 64, 0, &parent, 0}, {&input, 0, 0, nullptr, 0}}, BMK_NUMERICS_DEFAULT);
  EXPECT_TRUE(results[0].state == parent);
  EXPECT_TRUE(results[1].state == zeros);
}

TEST(CpuGdnPrefill, LaterRowsOfAChunkCannotBeSeen) {
  GdnInput input = gdn_input(BMK_BF16, 100, 1, 1, 31);
  const Array out = run_gdn({{&input, 0, 100, nullptr, -1}}, BMK_NUMERICS_DEFAULT)[0].out;
  for (int64_t c = 0; c < input.qkv.columns(); ++c) input.qkv.set(90, c, kNan);
  const Array poisoned = run_gdn({{&input, 0, 100, nullptr, -1}}, BMK_NUMERICS_DEFAULT)[0].out;
  EXPECT_TRUE(poisoned.slice(0, 90) == out.slice(0, 90));
  EXPECT_FALSE(all_finite(poisoned.slice(90, 10)));
}

}  // namespace
}  // namespace branchmark::cpu::test
