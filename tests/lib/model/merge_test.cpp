// Merging an adapter: which weights it changes and by how much, and that the merged model is an ordinary one.

#include "branchmark/model/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/distance.hpp"
#include "branchmark/model/tensor_list.hpp"
#include "branchmark/verify/synthetic_adapter.hpp"
#include "lib/model/folder.hpp"
#include "lib/model/small_model.hpp"

namespace branchmark {
namespace {

using test::random_prompt;
using test::small_config;

// The distance that default numerics may have from float32 on the recorded fixtures.
constexpr double kBf16Distance = 3.5e-2;

std::shared_ptr<Context> open_cpu() {
  return test::open_module(BRANCHMARK_CPU_MODULE);
}

// Every row of a stack with its padding. Device memory of the CPU module is ordinary memory.
std::vector<std::vector<float>> rows_in(const bmk_matrix& stack) {
  std::vector<std::vector<float>> rows;
  for (std::int64_t row = 0; row < stack.rows; ++row) {
    auto& values = rows.emplace_back();
    for (std::int64_t i = 0; i < stack.row_stride; ++i) {
      const auto at = row * stack.row_stride + i;
      values.push_back(stack.dtype == BMK_F32
                           ? static_cast<const float*>(stack.data)[at]
                           : bf16_to_float(static_cast<const std::uint16_t*>(stack.data)[at]));
    }
  }
  return rows;
}

using Stacks = std::vector<std::vector<std::vector<float>>>;

Stacks stacks_in(const ModelConfig& config, Weights& weights) {
  Stacks all;
  for (const auto& stack : tensor_stacks(config)) all.push_back(rows_in(stack.slot(weights)));
  return all;
}

// The stack that holds a projection, by the name of its tensor.
std::pair<std::size_t, std::int64_t> place_in_stacks(const ModelConfig& config, const Adapter::Delta& delta) {
  const auto stacks = tensor_stacks(config);
  const auto layer = "layers." + std::to_string(delta.layer) + ".";
  const auto ending = "." + std::string(name_of(delta.projection)) + ".weight";
  for (std::size_t i = 0; i < stacks.size(); ++i)
    for (const auto& part : stacks[i].parts)
      if (part.name.starts_with(layer) && part.name.ends_with(ending)) return {i, part.first_row};
  ADD_FAILURE() << layer << ending;
  return {};
}

Adapter only(Adapter adapter, Projection projection) {
  std::erase_if(adapter.deltas, [&](const auto& delta) { return delta.projection != projection; });
  return adapter;
}

TEST(Merge, AddsEachDeltaToItsRowsAndToNothingElse) {
  const auto context = open_cpu();
  auto config = small_config();
  config.ffn = 100;  // no multiple of 8: rows with padding
  const auto whole = make_synthetic_adapter(config, 3, 1);
  for (const auto projection :
       {Projection::in_proj_qkv, Projection::in_proj_z, Projection::in_proj_b, Projection::in_proj_a,
        Projection::out_proj, Projection::q_proj, Projection::k_proj, Projection::v_proj, Projection::o_proj,
        Projection::gate_proj, Projection::up_proj, Projection::down_proj}) {
    SCOPED_TRACE(name_of(projection));
    auto adapter = only(whole, projection);
    ASSERT_FALSE(adapter.deltas.empty());
    for (auto& delta : adapter.deltas) delta.scale = 0.5f;
    auto weights = make_synthetic_weights(context, config, 1);
    auto expected = stacks_in(config, weights);
    for (const auto& delta : adapter.deltas) {
      const auto [stack, first_row] = place_in_stacks(config, delta);
      const auto place = place_of(config, projection);
      for (std::int64_t row = 0; row < place.outputs; ++row)
        for (std::int64_t column = 0; column < place.inputs; ++column) {
          float sum = 0;
          for (std::int64_t r = 0; r < delta.rank; ++r)
            sum += delta.b[static_cast<std::size_t>(row * delta.rank + r)] *
                   delta.a[static_cast<std::size_t>(r * place.inputs + column)];
          auto& weight =
              expected[stack][static_cast<std::size_t>(first_row + row)][static_cast<std::size_t>(column)];
          weight = bf16_to_float(float_to_bf16(weight + 0.5f * sum));
        }
    }
    merge(*context, config, adapter, weights);
    EXPECT_EQ(stacks_in(config, weights), expected);
  }
}

// More rows than are on the host at once: 5 MB.
TEST(Merge, EachRowOfALargeSliceGetsItsOwnProduct) {
  const auto context = open_cpu();
  auto config = small_config();
  config.layers = {LayerKind::gdn};
  config.ffn = 40'000;
  const auto rows = static_cast<std::size_t>(config.ffn);
  Adapter adapter;
  adapter.deltas.push_back({.layer = 0,
                            .projection = Projection::gate_proj,
                            .rank = 1,
                            .scale = 1,
                            .a = std::vector<float>(static_cast<std::size_t>(config.hidden), 1.0f),
                            .b = {}});
  for (std::size_t row = 0; row < rows; ++row)
    adapter.deltas[0].b.push_back(row % 7 == 0 ? 1000.0f + static_cast<float>(row) : 0.0f);
  auto weights = make_synthetic_weights(context, config, 1);
  const auto before = rows_in(weights.layers[0].gate_up);
  merge(*context, config, adapter, weights);
  const auto after = rows_in(weights.layers[0].gate_up);
  for (std::size_t row = 0; row < rows; ++row)
    ASSERT_EQ(after[row][5], bf16_to_float(float_to_bf16(before[row][5] + adapter.deltas[0].b[row]))) << row;
}

TEST(Merge, KeepsFloat32WeightsFloat32) {
  const auto context = open_cpu();
  const auto config = small_config();
  const auto adapter = only(make_synthetic_adapter(config, 2, 1), Projection::down_proj);
  auto weights = make_synthetic_weights(context, config, 1);
  auto narrow = rows_in(weights.layers[0].down);
  // The same values, stored wide.
  auto& down = weights.layers[0].down;
  auto& buffer = weights.buffers.emplace_back(context, matrix_bytes(down.rows, down.columns, BMK_F32));
  down = matrix(buffer.data(), down.rows, down.columns, BMK_F32);
  for (std::int64_t row = 0; row < down.rows; ++row)
    std::copy(narrow[static_cast<std::size_t>(row)].begin(), narrow[static_cast<std::size_t>(row)].end(),
              buffer.as<float>() + row * down.row_stride);
  merge(*context, config, adapter, weights);
  const auto merged = rows_in(weights.layers[0].down);
  const auto rounds = [](float value) { return bf16_to_float(float_to_bf16(value)) != value; };
  EXPECT_TRUE(std::any_of(merged[0].begin(), merged[0].end(), rounds)) << "bits below bf16 are lost";
  EXPECT_NE(merged, narrow);
}

TEST(Merge, AWeightThatOverflowsIsNamed) {
  const auto context = open_cpu();
  const auto config = small_config();
  auto adapter = only(make_synthetic_adapter(config, 1, 1), Projection::up_proj);
  auto& delta = adapter.deltas.back();
  std::fill(delta.b.begin(), delta.b.end(), 0.0f);
  delta.b[7] = 1e38f;
  delta.scale = 1e38f;
  auto weights = make_synthetic_weights(context, config, 1);
  test::expect_error(ErrorCode::usage, {"layer 2", "up_proj", "row 7", "not finite", "bf16"},
                     [&] { merge(*context, config, adapter, weights); });
}

class MergedModel : public testing::Test {
 protected:
  MergedModel() {
    auto weights = make_synthetic_weights(context_, config_, 1);
    base_digest_ = weights.digest;
    merge(*context_, config_, adapter_, weights);
    merged_ = std::make_shared<const Weights>(std::move(weights));
  }
  std::unique_ptr<Model> merged(ModelOptions options = {}) {
    return std::make_unique<Model>(context_, config_, merged_, std::move(options));
  }
  std::unique_ptr<Model> unmerged(bool reference) {
    ModelOptions options;
    options.reference_numerics = reference;
    options.adapter = adapter_;
    return test::make_model(context_, config_, std::move(options));
  }

  std::shared_ptr<Context> context_ = open_cpu();
  ModelConfig config_ = small_config();
  Adapter adapter_ = make_synthetic_adapter(config_, 16, 1);
  std::shared_ptr<const Weights> merged_;
  std::string base_digest_;
};

TEST_F(MergedModel, RunsEveryEntryPointWithTheBitsOfForwardFixed) {
  const auto model = merged();
  EXPECT_EQ(model->profile(), Profile{});
  const auto tree = test::mixed_tree();
  EXPECT_EQ(test::digests(model->forward_shared(tree)), test::fixed_digests(*model, tree));
  const auto prompt = random_prompt("merged", 100);
  const auto whole = model->forward_fixed(prompt, GemmKind::fixed, {.all_rows = true});
  const auto state = test::capture(*model, prompt, 0, 64, 64);
  EXPECT_EQ(test::continued(*model, prompt, 64, 100, state).digest(), test::rows_of(whole, 64, 36).digest());
  const std::vector<Prompt> batch = {prompt, random_prompt("other", 70)};
  EXPECT_EQ(model->forward_batch(batch, GemmKind::fixed).front().digest(),
            model->forward_fixed(prompt).digest());
  EXPECT_EQ(model->forward(prompt).num_rows(), 1);
}

TEST_F(MergedModel, IsWithinTheBf16DistanceOfTheUnmergedOne) {
  const auto prompt = random_prompt("merged", 200);
  const CallOptions all{.all_rows = true};
  const auto truth = unmerged(true)->forward(prompt, all);
  const auto beside = unmerged(false)->forward(prompt, all);
  const auto inside = merged()->forward(prompt, all);
  EXPECT_LE(relative_l2(beside.values, truth.values), kBf16Distance);
  EXPECT_LE(relative_l2(inside.values, truth.values), kBf16Distance);
  EXPECT_LE(relative_l2(inside.values, beside.values), kBf16Distance);
  // The adapter itself changes far more than rounding does.
  const auto without = test::make_model(context_, config_)->forward(prompt, all);
  EXPECT_GE(relative_l2(without.values, truth.values), 3 * kBf16Distance);
}

TEST_F(MergedModel, ItsWeightsHaveADigestOfTheirOwn) {
  EXPECT_NE(merged_->digest, base_digest_);
  EXPECT_EQ(merged_->digest.size(), 64u);
  auto again = make_synthetic_weights(context_, config_, 1);
  merge(*context_, config_, adapter_, again);
  EXPECT_EQ(again.digest, merged_->digest);
  auto other = make_synthetic_weights(context_, config_, 1);
  merge(*context_, config_, make_synthetic_adapter(config_, 16, 2), other);
  EXPECT_NE(other.digest, merged_->digest);
}

}  // namespace
}  // namespace branchmark
