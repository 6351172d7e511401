// An adapter over the mini checkpoint, against float64 mathematics of weights W + scale · B A: each
// projection alone, so that a delta on the wrong slice of a stacked projection shows, and all of them, at
// both ends of the rank; beside the weights and merged into them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "branchmark/base/bf16.hpp"
#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/merge.hpp"
#include "branchmark/model/tensor_list.hpp"
#include "branchmark/verify/synthetic_adapter.hpp"
#include "lib/model/folder.hpp"
#include "lib/model/small_model.hpp"
#include "lib/verify/mathematics.hpp"

namespace branchmark {
namespace {

using test::kMini;

// What the recorded adapter over the tiny checkpoint is held to.
constexpr double kReferenceBound = 1e-5;
constexpr double kDefaultBound = 3.5e-2;

test::Tensors stored_tensors(const ModelConfig& config) {
  const Checkpoint checkpoint(kMini);
  test::Tensors tensors;
  for (const auto& stack : tensor_stacks(config))
    for (const auto& part : stack.parts) {
      const auto& tensor = checkpoint.at(part.name);
      auto& values = tensors[part.name];
      const bool wide = tensor.type == TensorType::f32;
      values.resize(tensor.data.size() / (wide ? 4 : 2));
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t narrow = 0;
        float value = 0;
        if (wide)
          std::memcpy(&value, tensor.data.data() + 4 * i, 4);
        else
          std::memcpy(&narrow, tensor.data.data() + 2 * i, 2);
        values[i] = static_cast<double>(wide ? value : bf16_to_float(narrow));
      }
    }
  return tensors;
}

// The tensor that a delta belongs to, by what model.md calls it.
std::string tensor_name(const Adapter::Delta& delta) {
  const std::string name(name_of(delta.projection));
  const bool mlp = name == "gate_proj" || name == "up_proj" || name == "down_proj";
  const bool attention = name == "q_proj" || name == "k_proj" || name == "v_proj" || name == "o_proj";
  return "layers." + std::to_string(delta.layer) +
         (mlp         ? ".mlp."
          : attention ? ".self_attn."
                      : ".linear_attn.") +
         name + ".weight";
}

void add(test::Tensors& tensors, const Adapter& adapter, const ModelConfig& config) {
  for (const auto& delta : adapter.deltas) {
    auto& weight = tensors.at(tensor_name(delta));
    const auto place = place_of(config, delta.projection);
    for (std::int64_t row = 0; row < place.outputs; ++row)
      for (std::int64_t column = 0; column < place.inputs; ++column) {
        double sum = 0;
        for (std::int64_t r = 0; r < delta.rank; ++r)
          sum += static_cast<double>(delta.b[static_cast<std::size_t>(row * delta.rank + r)]) *
                 static_cast<double>(delta.a[static_cast<std::size_t>(r * place.inputs + column)]);
        weight[static_cast<std::size_t>(row * place.inputs + column)] +=
            static_cast<double>(delta.scale) * sum;
      }
  }
}

double distance(const HiddenRows& found, const std::vector<double>& exact) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double d = static_cast<double>(found.values[i]) - exact[i];
    difference += d * d;
    norm += exact[i] * exact[i];
  }
  return std::sqrt(difference / norm);
}

class AdapterMathematics : public testing::Test {
 protected:
  HiddenRows run(ModelOptions options, std::shared_ptr<const Weights> weights) {
    return Model(context_, config_, std::move(weights), std::move(options))
        .forward(prompt_, {.all_rows = true});
  }
  HiddenRows beside(const Adapter& adapter, bool reference) {
    ModelOptions options;
    options.reference_numerics = reference;
    options.adapter = adapter;
    return run(std::move(options), base_);
  }
  std::vector<double> exact(const Adapter& adapter) const {
    auto tensors = stored_tensors(config_);
    add(tensors, adapter, config_);
    return test::last_hidden(config_, tensors, prompt_);
  }
  Weights load() { return load_weights(context_, config_, Checkpoint(kMini)); }

  const ModelConfig config_ = read_config(kMini);
  const std::shared_ptr<Context> context_ = test::open_module(BRANCHMARK_CPU_MODULE);
  const std::shared_ptr<const Weights> base_ = std::make_shared<const Weights>(load());
  const Prompt prompt_{test::random_tokens("adapter", 80, 128), {}};
};

TEST_F(AdapterMathematics, EachProjectionAlone) {
  const auto whole = make_synthetic_adapter(config_, 5, 1);
  const auto plain = exact({});
  for (const auto* name : {"in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj", "q_proj",
                           "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}) {
    SCOPED_TRACE(name);
    auto adapter = whole;
    std::erase_if(adapter.deltas, [&](const auto& delta) { return name_of(delta.projection) != name; });
    for (auto& delta : adapter.deltas) delta.scale = 0.75f;
    const auto rows = exact(adapter);
    const auto found = beside(adapter, true);
    EXPECT_LE(distance(found, rows), kReferenceBound);
    EXPECT_GE(distance(found, plain), 100 * kReferenceBound) << "the delta changes nothing here";
  }
}

TEST_F(AdapterMathematics, AllProjectionsFromTheLowestToTheHighestRank) {
  for (const std::int64_t rank : {1, 16, 128}) {
    SCOPED_TRACE(rank);
    const auto adapter = make_synthetic_adapter(config_, rank, 1);
    const auto rows = exact(adapter);
    EXPECT_LE(distance(beside(adapter, true), rows), kReferenceBound);
    const auto rounded = distance(beside(adapter, false), rows);
    EXPECT_LE(rounded, kDefaultBound);
    EXPECT_GE(rounded, 1e-3) << "a rounding is missing";
  }
}

TEST_F(AdapterMathematics, MergedIsWithinTheBf16Distance) {
  const auto adapter = make_synthetic_adapter(config_, 16, 1);
  auto weights = load();
  merge(*context_, config_, adapter, weights);
  const auto merged = std::make_shared<const Weights>(std::move(weights));
  const auto rows = exact(adapter);
  EXPECT_LE(distance(run({}, merged), rows), kDefaultBound);
  ModelOptions reference;
  reference.reference_numerics = true;
  const auto of_weights = distance(run(reference, merged), rows);
  EXPECT_LE(of_weights, kDefaultBound);
  EXPECT_GE(of_weights, kReferenceBound) << "merged weights are rounded to bf16";
}

}  // namespace
}  // namespace branchmark
