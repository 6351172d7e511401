// The CPU module's preparation of attention (norms and rotary) against its formula.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sequence/attention_prepare.hpp"
#include "sequence/compare.hpp"

namespace branchmark::cpu::test {
namespace {

// Norm and rotary of one head, in float64.
std::vector<double> prepare_oracle(const PrepareInput& input, int64_t row, int64_t first, const Array& norm) {
  std::vector<double> x;
  double squares = 0.0;
  for (int64_t d = 0; d < 256; ++d) {
    x.push_back(static_cast<double>(input.projection.at(row, first + d)));
    squares += x.back() * x.back();
  }
  for (int64_t d = 0; d < 256; ++d) {
    x[static_cast<size_t>(d)] *=
        (1.0 + static_cast<double>(norm.at(0, d))) / std::sqrt(squares / 256.0 + 1e-6);
  }
  for (size_t i = 0; i < 32; ++i) {
    // Sections 11, 11, 10, interleaved: T H W T H W ... T H, of which the last width is frequency 29.
    const size_t axis = i % 3 == 1 && i < 33 ? 1 : i % 3 == 2 && i < 30 ? 2 : 0;
    const int64_t position = input.positions[axis * kPrepareRows + static_cast<size_t>(row)];
    const double cosine = static_cast<double>(input.cosines.at(position, static_cast<int64_t>(i)));
    const double sine = static_cast<double>(input.sines.at(position, static_cast<int64_t>(i)));
    const double a = x[i], b = x[i + 32];
    x[i] = a * cosine - b * sine;
    x[i + 32] = b * cosine + a * sine;
  }
  return x;
}

TEST(CpuAttentionPrepare, FollowsTheFormula) {
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_REFERENCE}) {
    const PrepareInput input = prepare_input(activation(numerics));
    const Prepared result = run_prepare(input, numerics);
    std::vector<double> queries, keys;
    for (int64_t r = 0; r < kPrepareRows; ++r) {
      for (int64_t h = 0; h < kQueryHeads; ++h) {
        const std::vector<double> head = prepare_oracle(input, r, 512 * h, input.query_norm);
        queries.insert(queries.end(), head.begin(), head.end());
      }
      const std::vector<double> head = prepare_oracle(input, r, 512 * kQueryHeads, input.key_norm);
      keys.insert(keys.end(), head.begin(), head.end());
      for (int64_t d = 0; d < 256; ++d) {
        ASSERT_EQ(result.values.at(r, d), input.projection.at(r, 512 * kQueryHeads + 256 + d));
      }
    }
    const double bound = numerics == BMK_NUMERICS_DEFAULT ? 4e-3 : 1e-6;
    EXPECT_LE(relative_l2(values_of(result.query), queries), bound);
    EXPECT_LE(relative_l2(values_of(result.keys), keys), bound);
  }
}

}  // namespace
}  // namespace branchmark::cpu::test
