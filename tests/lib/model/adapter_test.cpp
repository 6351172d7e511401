#include "branchmark/model/adapter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "branchmark/base/bf16.hpp"
#include "folder.hpp"

namespace branchmark {
namespace {

using test::bytes_of;
using test::StoredTensor;

constexpr const char* kQuery = "base_model.model.layers.3.self_attn.q_proj";
constexpr const char* kGate = "base_model.model.layers.0.mlp.gate_proj";

std::vector<float> values(std::int64_t count, float first) {
  std::vector<float> made;
  for (std::int64_t i = 0; i < count; ++i) made.push_back(first + static_cast<float>(i) * 0.125f);
  return made;
}

class AdapterFiles : public ::testing::Test {
 protected:
  void add(const std::string& module, std::int64_t rank, std::int64_t inputs, std::int64_t outputs) {
    tensors_.push_back(
        {module + ".lora_A.weight", "F32", {rank, inputs}, bytes_of(values(rank * inputs, 1))});
    tensors_.push_back(
        {module + ".lora_B.weight", "F32", {outputs, rank}, bytes_of(values(outputs * rank, 2))});
  }
  Adapter read() {
    folder_.write("adapter_config.json", settings_.dump());
    folder_.write("adapter_model.safetensors", test::safetensors_text(tensors_));
    return read_adapter(folder_.path(), config_);
  }
  void refused(const std::vector<std::string>& said) {
    test::expect_error(ErrorCode::usage, said, [&] { read(); });
  }

  const ModelConfig config_ = preset("qwen3.5-smoke");
  const test::Folder folder_;
  Json settings_ = {
      {"peft_type", "LORA"},      {"r", 4}, {"lora_alpha", 8}, {"bias", "none"}, {"modules_to_save", nullptr},
      {"init_lora_weights", true}};
  std::vector<StoredTensor> tensors_;
};

TEST_F(AdapterFiles, PairsInOrderOfLayerAndProjection) {
  add(kQuery, 4, 256, 1024);
  add(kGate, 4, 256, 512);
  add("base_model.model.layers.0.linear_attn.in_proj_b", 4, 256, 4);
  const auto adapter = read();
  ASSERT_EQ(adapter.deltas.size(), 3u);
  EXPECT_EQ(adapter.deltas[0].projection, Projection::in_proj_b);
  EXPECT_EQ(adapter.deltas[1].projection, Projection::gate_proj);
  EXPECT_EQ(adapter.deltas[2].layer, 3);
  EXPECT_EQ(adapter.deltas[2].scale, 2);
  EXPECT_EQ(adapter.deltas[2].rank, 4);
  EXPECT_EQ(adapter.deltas[2].a, values(4 * 256, 1));
  EXPECT_EQ(adapter.deltas[2].b, values(1024 * 4, 2));
  EXPECT_EQ(adapter.digest.size(), 64u);
  EXPECT_EQ(read().digest, adapter.digest);
  settings_["lora_alpha"] = 9;
  EXPECT_NE(read().digest, adapter.digest);
}

TEST_F(AdapterFiles, EveryExportersPrefix) {
  for (const char* prefix : {"base_model.model.", "base_model.model.model.",
                             "base_model.model.language_model.", "base_model.model.model.language_model."}) {
    tensors_.clear();
    add(prefix + std::string("layers.1.linear_attn.out_proj"), 4, 512, 256);
    EXPECT_EQ(read().deltas.front().projection, Projection::out_proj) << prefix;
  }
}

TEST_F(AdapterFiles, Bf16IsWidened) {
  add(kGate, 4, 256, 512);
  const std::vector<std::uint16_t> narrow(4 * 256, float_to_bf16(1.5f));
  tensors_[0] = {tensors_[0].name, "BF16", {4, 256}, bytes_of(narrow)};
  EXPECT_EQ(read().deltas.front().a, std::vector<float>(4 * 256, 1.5f));
}

TEST_F(AdapterFiles, PatternsAndRankStabilisedScale) {
  add(kQuery, 16, 256, 1024);
  add("base_model.model.layers.3.self_attn.k_proj", 2, 256, 256);
  add("base_model.model.layers.0.mlp.up_proj", 4, 256, 512);
  settings_["use_rslora"] = true;
  // The first matching key counts, in the order of the file.
  const std::string patterns =
      R"("rank_pattern": {"layers.3.self_attn.q_proj": 16, "[qk]_proj": 2, "roj": 9},
         "alpha_pattern": {"^layers\\.\\d+\\.mlp\\.up_proj": 3}})";
  auto text = settings_.dump();
  text.back() = ',';
  folder_.write("adapter_model.safetensors", test::safetensors_text(tensors_));
  folder_.write("adapter_config.json", text + patterns);
  const auto adapter = read_adapter(folder_.path(), config_);
  ASSERT_EQ(adapter.deltas.size(), 3u);
  EXPECT_EQ(adapter.deltas[0].scale, 1.5f);
  EXPECT_EQ(adapter.deltas[1].rank, 16);
  EXPECT_EQ(adapter.deltas[1].scale, 2);
  EXPECT_EQ(adapter.deltas[2].scale, static_cast<float>(8 / std::sqrt(2.0)));
}

TEST_F(AdapterFiles, SettingsThatAreNotSupported) {
  add(kQuery, 4, 256, 1024);
  const auto settings = settings_;
  const std::vector<std::pair<const char*, Json>> changes = {
      {"peft_type", "LOHA"},
      {"peft_type", nullptr},
      {"use_dora", true},
      {"use_dora", 1},
      {"lora_bias", true},
      {"fan_in_fan_out", true},
      {"bias", "all"},
      {"modules_to_save", {"lm_head"}},
      {"target_parameters", {"mlp.experts"}},
      {"init_lora_weights", "pissa"},
      {"target_modules", {"q_proj", "lm_head"}},
      {"r", 0},
      {"r", 129},
      {"r", -4},
      {"r", 4.5},
      {"r", "4"},
      {"r", nullptr},
      {"lora_alpha", "8"},
      {"lora_alpha", nullptr},
      {"rank_pattern", {{"q_proj", 0}}},
      {"rank_pattern", {{"(", 4}}},
      {"rank_pattern", 4},
      {"alpha_pattern", {{"q_proj", "8"}}},
  };
  for (const auto& [key, value] : changes) {
    SCOPED_TRACE(std::string(key) + " = " + value.dump());
    settings_ = settings;
    settings_[key] = value;
    refused({key});
  }
  settings_ = settings;
  settings_.erase("r");
  refused({"/r", "missing"});
}

TEST_F(AdapterFiles, ScaleThatOverflows) {
  add(kQuery, 4, 256, 1024);
  settings_["lora_alpha"] = 1e40;
  refused({"scale", "1e+40", "finite"});
}

TEST_F(AdapterFiles, UnknownTargets) {
  for (const char* name :
       {"base_model.model.lm_head.lora_A.weight", "base_model.model.layers.0.mlp.gate.lora_A.weight",
        "base_model.model.layers.0.self_attn.gate_proj.lora_A.weight", "layers.0.mlp.up_proj.lora_A.weight",
        "base_model.model.layers.x.mlp.up_proj.lora_A.weight",
        "base_model.model.layers..mlp.up_proj.lora_A.weight",
        "base_model.model.layers.00.mlp.up_proj.lora_A.weight",
        "base_model.model.layers.0.mlp.up_proj.lora_magnitude_vector",
        "base_model.model.layers.0.mlp.up_proj.weight",
        "base_model.model.visual.layers.0.mlp.up_proj.lora_A.weight"}) {
    tensors_ = {{name, "F32", {1}, bytes_of<float>({1})}};
    refused({name, "unknown target"});
  }
}

TEST_F(AdapterFiles, LayersThatAreNotThere) {
  add("base_model.model.layers.4.mlp.up_proj", 4, 256, 512);
  refused({"layers.4", "0 to 3"});
  tensors_.clear();
  add("base_model.model.layers.3.linear_attn.out_proj", 4, 512, 256);
  refused({"layer 3", "full attention", "out_proj"});
  tensors_.clear();
  add("base_model.model.layers.0.self_attn.q_proj", 4, 256, 1024);
  refused({"layer 0", "gated delta net", "q_proj"});
}

TEST_F(AdapterFiles, PairsThatDoNotFit) {
  refused({"no lora_A and lora_B pair"});
  add(kQuery, 4, 256, 1024);
  const auto whole = tensors_;
  tensors_ = {whole[0]};
  refused({"layers.3.self_attn.q_proj", "lora_B.weight is missing"});
  tensors_ = {whole[1]};
  refused({"lora_A.weight is missing"});
  tensors_ = whole;
  tensors_[0].shape = {256, 4};
  refused({whole[0].name, "[256, 4]", "[4, 256]"});
  tensors_ = whole;
  tensors_[1].shape = {4, 1024};
  refused({whole[1].name, "[4, 1024]", "[1024, 4]"});
  tensors_ = whole;
  tensors_[0] = {whole[0].name, "F16", {4, 256}, std::string(2048, '\0')};
  refused({whole[0].name, "F16"});
  tensors_ = whole;
  add("base_model.model.model.layers.3.self_attn.q_proj", 4, 256, 1024);
  refused({"already given"});
}

TEST_F(AdapterFiles, ValuesThatAreNotFinite) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    tensors_.clear();
    add(kQuery, 4, 256, 1024);
    auto made = values(1024 * 4, 2);
    made[77] = bad;
    tensors_[1].bytes = bytes_of(made);
    refused({tensors_[1].name, "element 77", "finite"});
  }
}

TEST_F(AdapterFiles, FilesThatAreMissing) {
  test::expect_error(ErrorCode::usage, {"adapter_config.json"},
                     [&] { read_adapter(folder_.path(), config_); });
  folder_.write("adapter_config.json", settings_.dump());
  test::expect_error(ErrorCode::usage, {"adapter_model.safetensors"},
                     [&] { read_adapter(folder_.path(), config_); });
}

TEST(Projection, PlacesFollowTheStacks) {
  const auto& config = preset("qwen3.5-4b");
  EXPECT_EQ(place_of(config, Projection::in_proj_a).first_column + 32, config.gdn_input_width());
  EXPECT_EQ(place_of(config, Projection::v_proj).first_column + 1024, config.attention_input_width());
  EXPECT_EQ(place_of(config, Projection::up_proj).first_column, 9216);
  EXPECT_EQ(place_of(config, Projection::down_proj).inputs, 9216);
  EXPECT_EQ(projection_named("o_proj"), Projection::o_proj);
  EXPECT_FALSE(projection_named("lm_head"));
  EXPECT_TRUE(has_projection(LayerKind::gdn, Projection::down_proj));
  EXPECT_FALSE(has_projection(LayerKind::gdn, Projection::o_proj));
  EXPECT_FALSE(has_projection(LayerKind::attention, Projection::in_proj_z));
}

}  // namespace
}  // namespace branchmark
