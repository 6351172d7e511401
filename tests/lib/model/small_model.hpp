// What the tests of the entry points share: a small synthetic model over a module, prompts, and ways of
// saying which results differ.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "branchmark/base/random.hpp"
#include "branchmark/device/context.hpp"
#include "branchmark/model/model.hpp"

namespace branchmark::test {

// Value heads are more than key heads and query heads more than kv heads; there is a GDN layer before the
// attention layer and one after it, so that a fault in either reaches the other.
inline ModelConfig small_config() {
  ModelConfig config;
  config.name = "small";
  config.hidden = 64;
  config.ffn = 96;
  config.vocabulary = 200;
  config.query_heads = 2;
  config.kv_heads = 1;
  config.key_heads = 1;
  config.value_heads = 2;
  config.max_positions = 4096;
  config.layers = {LayerKind::gdn, LayerKind::attention, LayerKind::gdn};
  config.validate();
  return config;
}

// BRANCHMARK_TEST_KERNELS names a module that takes the CPU module's place, for these tests on a GPU.
inline std::shared_ptr<Context> open_module(const std::string& file, std::int64_t num_threads = 0) {
  const char* other = std::getenv("BRANCHMARK_TEST_KERNELS");
  const bool replaced = other != nullptr && file == BRANCHMARK_CPU_MODULE;
  return Context::open(KernelLibrary::load(replaced ? other : file), 0, {.num_threads = num_threads});
}

inline std::unique_ptr<Model> make_model(std::shared_ptr<Context> context, const ModelConfig& config,
                                         ModelOptions options = {}, std::uint64_t seed = 1) {
  auto weights = std::make_shared<const Weights>(make_synthetic_weights(context, config, seed));
  return std::make_unique<Model>(std::move(context), config, std::move(weights), std::move(options));
}

inline std::unique_ptr<Model> small_model(ModelOptions options = {}) {
  return make_model(open_module(BRANCHMARK_CPU_MODULE), small_config(), std::move(options));
}

// The same weights on the same device, with nothing grown or pooled yet.
inline std::unique_ptr<Model> twin(const Model& model, ModelOptions options = {}) {
  return std::make_unique<Model>(model.shared_context(), model.config(), model.shared_weights(),
                                 std::move(options));
}

inline Tokens random_tokens(const std::string& name, std::int64_t count, std::int64_t vocabulary = 200) {
  Random random(1, name);
  Tokens tokens(static_cast<std::size_t>(count));
  for (auto& token : tokens)
    token = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocabulary)));
  return tokens;
}

inline Prompt random_prompt(const std::string& name, std::int64_t count) {
  return {random_tokens(name, count), {}};
}

// Branches of these lengths, each of tokens of its own.
inline PromptGroup random_group(const std::string& name, std::int64_t prefix,
                                const std::vector<std::int64_t>& branches) {
  PromptGroup group{name, random_tokens(name, prefix), {}};
  for (std::size_t i = 0; i < branches.size(); ++i)
    group.branches.push_back(random_tokens(name + "/" + std::to_string(i), branches[i]));
  return group;
}

// Several prefixes that end on and off the grid, short branches and ones past a chunk.
inline PrefixTree mixed_tree() {
  return PrefixTree::from_groups(random_tokens("request", 70),
                                 {random_group("a", 10, {3, 40, 1}), random_group("b", 0, {64}),
                                  random_group("c", 65, {2, 7, 130}), random_group("d", 128, {1})});
}

// Rows [first, first + count) of a result.
inline HiddenRows rows_of(const HiddenRows& whole, std::int64_t first, std::int64_t count) {
  const auto begin = whole.values.begin() + first * whole.columns;
  return {whole.columns, whole.activation, {begin, begin + count * whole.columns}};
}

inline std::vector<std::string> digests(std::span<const HiddenRows> rows) {
  std::vector<std::string> list;
  for (const auto& each : rows) list.push_back(each.digest());
  return list;
}

// forward_fixed of every prompt of the tree.
inline std::vector<std::string> fixed_digests(Model& model, const PrefixTree& tree,
                                              GemmKind gemm = GemmKind::fixed) {
  std::vector<std::string> list;
  for (const auto& prompt : full_prompts(tree))
    list.push_back(model.forward_fixed(prompt.prompt, gemm).digest());
  return list;
}

inline std::shared_ptr<const PrefixState> capture(Model& model, const Prompt& prompt, std::int64_t from,
                                                  std::int64_t to, std::int64_t at,
                                                  std::shared_ptr<const PrefixState> prefix = nullptr) {
  return model
      .forward_window({.prompt = &prompt,
                       .from = from,
                       .to = to,
                       .prefix = std::move(prefix),
                       .capture_at = at,
                       .gemm = GemmKind::fixed})
      .captured;
}

// Every row of [from, to), continued from a state.
inline HiddenRows continued(Model& model, const Prompt& prompt, std::int64_t from, std::int64_t to,
                            std::shared_ptr<const PrefixState> prefix) {
  return model
      .forward_window({.prompt = &prompt,
                       .from = from,
                       .to = to,
                       .prefix = std::move(prefix),
                       .capture_at = 0,
                       .gemm = GemmKind::fixed},
                      {.all_rows = true, .observer = nullptr})
      .rows;
}

// Bytes of device memory.
inline std::string read_back(Context& context, const void* data, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  context.copy_to_host(text.data(), data, bytes);
  context.synchronize();
  return text;
}

// The memory of a state, part by part: per GDN layer the state and the convolution rows; per attention layer
// the keys and the values of the run's own tokens.
inline std::vector<std::string> memory_of(Context& context, const PrefixState& state,
                                          const ModelConfig& config) {
  std::vector<std::string> parts;
  const auto take = [&](const void* data, std::int64_t bytes) {
    parts.push_back(read_back(context, data, bytes));
  };
  for (std::int64_t i = 0; i < config.num_layers(LayerKind::gdn); ++i) {
    take(state.gdn_state(i), config.value_heads * BMK_GDN_HEAD_DIM * BMK_GDN_HEAD_DIM * size_of(BMK_F32));
    take(state.conv_history(i), BMK_CONV_HISTORY * config.conv_channels() * size_of(BMK_BF16));
  }
  const auto own = (state.length() - state.first()) * config.kv_width() * size_of(BMK_BF16);
  for (std::int64_t i = 0; i < config.num_layers(LayerKind::attention); ++i) {
    take(state.keys(i), own);
    take(state.values(i), own);
  }
  return parts;
}

}  // namespace branchmark::test
