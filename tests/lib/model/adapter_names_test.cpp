// What PEFT exports: names of modules, patterns that are matched against them, ranks, subsets of projections.

#include <gtest/gtest.h>

#include <cmath>

#include "branchmark/model/adapter.hpp"
#include "folder.hpp"

namespace branchmark {
namespace {

struct Module {
  std::string name;  // without the exporter's prefix
  std::int64_t rank, inputs, outputs;
};

const Module kQueryModule = {"layers.3.self_attn.q_proj", 4, 256, 1024};
const Module kKey = {"layers.3.self_attn.k_proj", 4, 256, 256};
const Module kUp = {"layers.0.mlp.up_proj", 4, 256, 512};

Module of_rank(Module module, std::int64_t rank) {
  module.rank = rank;
  return module;
}

Adapter read(const std::string& prefix, const std::vector<Module>& modules,
             const std::string& more_settings = "") {
  const test::Folder folder;
  std::vector<test::StoredTensor> tensors;
  for (const auto& module : modules) {
    const std::vector<float> a(static_cast<std::size_t>(module.rank * module.inputs), 1.0f);
    const std::vector<float> b(static_cast<std::size_t>(module.outputs * module.rank), 2.0f);
    const auto name = prefix + module.name;
    tensors.push_back({name + ".lora_A.weight", "F32", {module.rank, module.inputs}, test::bytes_of(a)});
    tensors.push_back({name + ".lora_B.weight", "F32", {module.outputs, module.rank}, test::bytes_of(b)});
  }
  folder.write("adapter_config.json",
               R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8)" + more_settings + "}");
  folder.write("adapter_model.safetensors", test::safetensors_text(tensors));
  return read_adapter(folder.path(), preset("qwen3.5-smoke"));
}

constexpr const char* kPrefixes[] = {"base_model.model.", "base_model.model.model.",
                                     "base_model.model.language_model.",
                                     "base_model.model.model.language_model."};

TEST(AdapterNames, EveryProjectionUnderEveryPrefix) {
  const std::vector<std::pair<Projection, Module>> modules = {
      {Projection::in_proj_qkv, {"layers.1.linear_attn.in_proj_qkv", 4, 256, 1024}},
      {Projection::in_proj_z, {"layers.1.linear_attn.in_proj_z", 4, 256, 512}},
      {Projection::in_proj_b, {"layers.1.linear_attn.in_proj_b", 4, 256, 4}},
      {Projection::in_proj_a, {"layers.1.linear_attn.in_proj_a", 4, 256, 4}},
      {Projection::out_proj, {"layers.1.linear_attn.out_proj", 4, 512, 256}},
      {Projection::q_proj, kQueryModule},
      {Projection::k_proj, kKey},
      {Projection::v_proj, {"layers.3.self_attn.v_proj", 4, 256, 256}},
      {Projection::o_proj, {"layers.3.self_attn.o_proj", 4, 512, 256}},
      {Projection::gate_proj, {"layers.0.mlp.gate_proj", 4, 256, 512}},
      {Projection::up_proj, kUp},
      {Projection::down_proj, {"layers.0.mlp.down_proj", 4, 512, 256}}};
  for (const auto* prefix : kPrefixes) {
    std::string digest;
    for (const auto& [projection, module] : modules) {
      const auto adapter = read(prefix, {module});
      ASSERT_EQ(adapter.deltas.size(), 1u) << prefix << module.name;
      EXPECT_EQ(adapter.deltas[0].projection, projection) << prefix << module.name;
      EXPECT_EQ(adapter.deltas[0].layer, module.name[7] - '0') << prefix << module.name;
    }
  }
}

// Where the weights belong does not depend on what the exporter called the model around them.
TEST(AdapterNames, ThePrefixIsNoPartOfTheAdapter) {
  const auto digest = read(kPrefixes[0], {kQueryModule, kUp}).digest;
  for (const auto* prefix : kPrefixes) EXPECT_EQ(read(prefix, {kUp, kQueryModule}).digest, digest) << prefix;
  EXPECT_NE(read(kPrefixes[0], {kQueryModule}).digest, digest);
}

TEST(AdapterNames, RanksFromOneTo128) {
  for (const std::int64_t rank : {1, 2, 127, 128}) {
    const auto adapter = read(kPrefixes[1], {of_rank(kUp, rank)},
                              R"(, "rank_pattern": {"up_proj": )" + std::to_string(rank) + "}");
    EXPECT_EQ(adapter.deltas[0].rank, rank);
    EXPECT_EQ(adapter.deltas[0].scale, 8 / static_cast<float>(rank));
    EXPECT_EQ(std::ssize(adapter.deltas[0].b), 512 * rank);
  }
  test::expect_error(ErrorCode::usage, {"rank_pattern/up_proj", "129"}, [] {
    read(kPrefixes[1], {of_rank(kUp, 129)}, R"(, "rank_pattern": {"up_proj": 129})");
  });
}

// PEFT matches "(.*\.)?(KEY)" against the whole of the module's name without "base_model.model.".
TEST(AdapterNames, PatternsMatchWholeNamesOrWhatFollowsADot) {
  const auto rank_of = [](const std::string& pattern, const char* prefix = kPrefixes[3]) {
    for (const std::int64_t rank : {4, 2}) {
      try {
        return read(prefix, {of_rank(kQueryModule, rank)}, R"(, "rank_pattern": {")" + pattern + R"(": 2})")
            .deltas.at(0)
            .rank;
      } catch (const Error&) {  // the rank decides the shape
      }
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(rank_of("q_proj"), 2);
  EXPECT_EQ(rank_of("self_attn.q_proj"), 2);
  EXPECT_EQ(rank_of("layers.3.self_attn.q_proj"), 2);
  EXPECT_EQ(rank_of("model.language_model.layers.3.self_attn.q_proj"), 2);
  EXPECT_EQ(rank_of("layers\\\\.[0-9]+\\\\..*q_proj"), 2);
  EXPECT_EQ(rank_of("layers.2.self_attn.q_proj"), 4);
  EXPECT_EQ(rank_of("proj"), 4) << "a part of a word is no name";
  EXPECT_EQ(rank_of("self_attn"), 4) << "nor is what stands before the projection";
  EXPECT_EQ(rank_of("^layers.3.self_attn.q_proj"), 4) << "the name begins with model.";
  EXPECT_EQ(rank_of("^layers.3.self_attn.q_proj", kPrefixes[0]), 2);
}

TEST(AdapterNames, PatternsChangeRankAndAlphaOfTheirModulesOnly) {
  const std::string patterns =
      R"(, "rank_pattern": {"q_proj": 16}, "alpha_pattern": {"q_proj": 4, "up_proj": 6})";
  const auto plain = read(kPrefixes[1], {of_rank(kQueryModule, 16), kKey, kUp}, patterns);
  ASSERT_EQ(plain.deltas.size(), 3u);
  EXPECT_EQ(plain.deltas[0].scale, 6 / 4.0f);   // up_proj: its own alpha, the common rank
  EXPECT_EQ(plain.deltas[1].scale, 4 / 16.0f);  // q_proj: both its own
  EXPECT_EQ(plain.deltas[2].scale, 8 / 4.0f);   // k_proj: both common
  const auto stabilised =
      read(kPrefixes[1], {of_rank(kQueryModule, 16), kKey, kUp}, patterns + R"(, "use_rslora": true)");
  EXPECT_EQ(stabilised.deltas[0].scale, 6 / 2.0f);
  EXPECT_EQ(stabilised.deltas[1].scale, 4 / 4.0f);
  EXPECT_EQ(stabilised.deltas[2].scale, 8 / 2.0f);
}

TEST(AdapterNames, EmptyAndNullSettingsOfPeftAreDefaults) {
  const auto adapter =
      read(kPrefixes[1], {kUp},
           R"(, "rank_pattern": {}, "alpha_pattern": {}, "use_rslora": false, "use_dora": false,
      "bias": "none", "modules_to_save": null, "layers_to_transform": null, "target_modules": ["up_proj"],
      "init_lora_weights": true, "lora_dropout": 0.0, "loftq_config": {}, "a_setting_of_a_later_version": null)");
  EXPECT_EQ(adapter.deltas[0].scale, 2.0f);
}

}  // namespace
}  // namespace branchmark
