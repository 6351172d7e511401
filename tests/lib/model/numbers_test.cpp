// What weights are stored as, and how far the rounding of numerics `default` goes.

#include <gtest/gtest.h>

#include <cmath>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/distance.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::random_prompt;
using test::small_config;
using test::small_model;

// The values of a float32 vector rounded to bf16 while this lives; says whether that changed any.
class RoundedToBf16 {
 public:
  explicit RoundedToBf16(const bmk_matrix& weight)
      : values_(static_cast<float*>(weight.data)), before_(values_, values_ + weight.columns) {
    for (std::int64_t i = 0; i < weight.columns; ++i) values_[i] = bf16_to_float(float_to_bf16(values_[i]));
  }
  ~RoundedToBf16() { std::copy(before_.begin(), before_.end(), values_); }
  RoundedToBf16(const RoundedToBf16&) = delete;
  RoundedToBf16& operator=(const RoundedToBf16&) = delete;

  bool changed() const { return !std::equal(before_.begin(), before_.end(), values_); }

 private:
  float* values_;
  std::vector<float> before_;
};

// K22: weights_test shows that a checkpoint's float32 vectors are kept; here, that what bf16 could not hold
// of them reaches the result.
TEST(Numbers, K22BitsBelowBf16OfTheFloat32VectorsMatter) {
  const auto model = small_model();
  if (model->context().info().is_cpu == 0) GTEST_SKIP() << "changes weights where they lie, in host memory";
  const auto prompt = random_prompt("bits", 200);
  const auto before = model->forward_fixed(prompt, GemmKind::fixed, {.all_rows = true, .observer = nullptr});
  for (const auto member : {&LayerWeights::a_log, &LayerWeights::dt_bias, &LayerWeights::gdn_norm}) {
    const auto& weight = model->weights().layers[0].*member;
    ASSERT_EQ(weight.dtype, BMK_F32);
    {
      const RoundedToBf16 rounded(weight);
      ASSERT_TRUE(rounded.changed()) << "the synthetic values must have bits below bf16";
      EXPECT_NE(
          model->forward_fixed(prompt, GemmKind::fixed, {.all_rows = true, .observer = nullptr}).digest(),
          before.digest());
    }
    EXPECT_EQ(model->forward_fixed(prompt, GemmKind::fixed, {.all_rows = true, .observer = nullptr}).digest(),
              before.digest());
  }
}

struct Distances {
  double default_numerics = 0;
  double gdn_fp32 = 0;
};

// All rows of `forward` against those of numerics `reference`, over the same weights.
Distances distances(const ModelConfig& config) {
  const auto base = test::make_model(test::open_module(BRANCHMARK_CPU_MODULE), config);
  const auto prompt = random_prompt("numerics", 200);
  const auto rows = [&](const ModelOptions& options) {
    return test::twin(*base, options)->forward(prompt, {.all_rows = true, .observer = nullptr}).values;
  };
  ModelOptions reference, gdn_fp32;
  reference.reference_numerics = true;
  gdn_fp32.gdn_fp32 = true;
  const auto exact = rows(reference);
  return {relative_l2(rows({}), exact), relative_l2(rows(gdn_fp32), exact)};
}

// K23: heads of every ratio. The distance is that of bf16 activations, a percent or two; a head that reads
// another's key gives one of order one. The lower bound catches a rounding that is not done.
TEST(Numbers, K23DefaultNumericsStayCloseToReferenceForEveryHeadLayout) {
  struct Heads {
    std::int64_t query, kv, key, value;
  };
  for (const auto& heads : {Heads{2, 1, 1, 2}, Heads{4, 2, 2, 6}, Heads{3, 3, 2, 2}, Heads{6, 2, 3, 3}}) {
    auto config = small_config();
    config.query_heads = heads.query;
    config.kv_heads = heads.kv;
    config.key_heads = heads.key;
    config.value_heads = heads.value;
    config.validate();
    const auto found = distances(config);
    EXPECT_LE(found.default_numerics, 3e-2) << heads.query << " " << heads.value;
    EXPECT_GE(found.default_numerics, 1e-3);
    EXPECT_LE(found.gdn_fp32, 3e-2);
    EXPECT_NE(found.gdn_fp32, found.default_numerics) << "the GDN's own rounding must show";
  }
}

}  // namespace
}  // namespace branchmark
