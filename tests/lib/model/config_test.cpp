#include "branchmark/model/config.hpp"

#include <gtest/gtest.h>

#include "folder.hpp"

namespace branchmark {
namespace {

Json mini() {
  return parse_json(test::read_whole(test::kMini / "config.json"), "mini");
}

ModelConfig parse(const Json& document) {
  return parse_config(document.dump(), "changed");
}

TEST(Config, ReadsACheckpointsFile) {
  const auto config = read_config(test::kMini);
  EXPECT_EQ(config.name, "qwen3_5-mini");
  EXPECT_EQ(config.hidden, 64);
  EXPECT_EQ(config.ffn, 128);
  EXPECT_EQ(config.vocabulary, 128);
  EXPECT_EQ(config.query_heads, 2);
  EXPECT_EQ(config.kv_heads, 1);
  EXPECT_EQ(config.key_heads, 1);
  EXPECT_EQ(config.value_heads, 2);
  EXPECT_EQ(config.max_positions, 32768);
  EXPECT_EQ(config.rope_theta, 1e7);
  EXPECT_EQ(config.rms_eps, 1e-6f);
  EXPECT_EQ(config.layers,
            (std::vector{LayerKind::gdn, LayerKind::gdn, LayerKind::gdn, LayerKind::attention}));
  EXPECT_EQ(read_config(test::kMini / "").name, "qwen3_5-mini");
}

TEST(Config, PadsNarrowParts) {
  const auto config = read_config(test::kMini);
  EXPECT_EQ(config.gdn_b_column(), 512 + 256);
  EXPECT_EQ(config.gdn_a_column(), 512 + 256 + 8);
  EXPECT_EQ(config.gdn_input_width(), 512 + 256 + 16);
  EXPECT_EQ(config.attention_input_width(), 1024 + 512);
}

TEST(Config, PresetsNeedNoPadding) {
  for (const auto& config : presets()) {
    if (config.name == "qwen3.5-smoke") continue;
    EXPECT_EQ(config.gdn_input_width(),
              config.conv_channels() + config.value_width() + 2 * config.value_heads);
    EXPECT_EQ(config.gate_up_width(), 2 * config.ffn);
  }
}

TEST(Config, PresetsEqualTheirReadableForm) {
  for (const auto& config : presets()) {
    const auto file = std::filesystem::path(BRANCHMARK_PRESETS) / (config.name + ".json");
    const auto text = test::read_whole(file);
    auto readable = parse_config(text, config.name);
    EXPECT_EQ(readable, config) << file;
    EXPECT_EQ(parse_json(text, config.name).at("name"), config.name);
  }
  const std::filesystem::directory_iterator files(BRANCHMARK_PRESETS);
  EXPECT_EQ(std::distance(begin(files), end(files)), static_cast<std::ptrdiff_t>(presets().size()));
}

TEST(Config, PresetByName) {
  EXPECT_EQ(preset("qwen3.5-4b").num_layers(LayerKind::attention), 8);
  EXPECT_EQ(preset("qwen3.5-27b").num_layers(LayerKind::gdn), 48);
  test::expect_error(ErrorCode::usage, {"qwen3.5-5b", "qwen3.5-0.8b", "qwen3.5-smoke"},
                     [] { preset("qwen3.5-5b"); });
}

TEST(Config, FirstLayersOnly) {
  EXPECT_EQ(with_layers(preset("qwen3.5-4b"), 4).num_layers(), 4);
  for (const std::int64_t count : {0, 33, -1})
    test::expect_error(ErrorCode::usage, {"layers", std::to_string(count), "1 to 32"},
                       [&] { with_layers(preset("qwen3.5-4b"), count); });
}

TEST(Config, TextAtTheRootAndOlderRotarySettings) {
  auto text = mini()["text_config"];
  EXPECT_EQ(parse(text).hidden, 64);
  text["rope_theta"] = 500000;
  text["rope_scaling"] = {{"rope_type", "default"}, {"mrope_section", {16, 8, 8}}};
  text.erase("rope_parameters");
  text["partial_rotary_factor"] = 0.25;
  EXPECT_EQ(parse(text).rope_theta, 5e5);
  EXPECT_EQ(parse(text).mrope_section, (std::array<std::int64_t, 3>{16, 8, 8}));
  text["rope_scaling"] = nullptr;
  EXPECT_EQ(parse(text).mrope_section, (std::array<std::int64_t, 3>{11, 11, 10}));
}

TEST(Config, LayerPatterns) {
  auto document = mini();
  auto& text = document["text_config"];
  text["layer_types"] = {"full_attention", "linear_attention", "full_attention", "full_attention"};
  EXPECT_EQ(parse(document).num_layers(LayerKind::attention), 3);
  text.erase("layer_types");
  text["full_attention_interval"] = 2;
  EXPECT_EQ(parse(document).layers,
            (std::vector{LayerKind::gdn, LayerKind::attention, LayerKind::gdn, LayerKind::attention}));
  text.erase("full_attention_interval");
  test::expect_error(ErrorCode::usage, {"layer_types", "full_attention_interval"}, [&] { parse(document); });
}

TEST(Config, EachMissingFieldIsNamed) {
  for (const char* key :
       {"hidden_size", "intermediate_size", "vocab_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "linear_num_key_heads", "linear_num_value_heads", "max_position_embeddings",
        "rms_norm_eps", "head_dim", "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim",
        "hidden_act"}) {
    auto document = mini();
    document["text_config"].erase(key);
    test::expect_error(ErrorCode::usage, {std::string("/text_config/") + key, "missing"},
                       [&] { parse(document); });
  }
  auto document = mini();
  document["text_config"]["rope_parameters"].erase("rope_theta");
  test::expect_error(ErrorCode::usage, {"rope_theta"}, [&] { parse(document); });
}

TEST(Config, UnsupportedValuesAreNamed) {
  struct Change {
    std::vector<const char*> path;
    Json value;
  };
  const Json huge = 9223372036854775808ull;
  const std::vector<Change> changes = {
      {{"model_type"}, "qwen3_5_moe_text"},
      {{"head_dim"}, 128},
      {{"head_dim"}, "256"},
      {{"linear_key_head_dim"}, 64},
      {{"linear_value_head_dim"}, 256},
      {{"linear_conv_kernel_dim"}, 3},
      {{"hidden_act"}, "gelu"},
      {{"hidden_act"}, 1},
      {{"attention_bias"}, true},
      {{"attention_bias"}, "no"},
      {{"attn_output_gate"}, false},
      {{"rope_parameters", "rope_type"}, "yarn"},
      {{"rope_parameters", "mrope_interleaved"}, false},
      {{"rope_parameters", "partial_rotary_factor"}, 0.5},
      {{"rope_parameters", "partial_rotary_factor"}, "0.25"},
      {{"rope_parameters", "rope_theta"}, 0},
      {{"rope_parameters", "rope_theta"}, true},
      {{"rope_parameters", "mrope_section"}, {11, 11, 11}},
      {{"rope_parameters", "mrope_section"}, {22, 10}},
      {{"rope_parameters", "mrope_section"}, {43, -11, 0}},
      {{"rope_parameters", "mrope_section"}, {11, 10.5, 10.5}},
      {{"rope_parameters", "mrope_section"}, "11, 11, 10"},
      {{"hidden_size"}, 100},
      {{"hidden_size"}, 0},
      {{"hidden_size"}, -64},
      {{"hidden_size"}, 64.5},
      {{"hidden_size"}, "64"},
      {{"hidden_size"}, 1 << 20},
      {{"hidden_size"}, huge},
      {{"intermediate_size"}, 0},
      {{"intermediate_size"}, 1 << 24},
      {{"vocab_size"}, 0},
      {{"vocab_size"}, huge},
      {{"num_attention_heads"}, 0},
      {{"num_key_value_heads"}, 4},
      {{"num_key_value_heads"}, 0},
      {{"linear_num_key_heads"}, 3},
      {{"linear_num_value_heads"}, 1 << 20},
      {{"max_position_embeddings"}, 0},
      {{"rms_norm_eps"}, 0},
      {{"rms_norm_eps"}, 1e-60},
      {{"rms_norm_eps"}, 1e300},
      {{"rms_norm_eps"}, nullptr},
      {{"num_hidden_layers"}, 0},
      {{"num_hidden_layers"}, 5},
      {{"num_hidden_layers"}, huge},
      {{"layer_types"}, {"linear_attention"}},
      {{"layer_types"}, {"linear_attention", "linear_attention", "linear_attention", "sliding_attention"}},
      {{"layer_types"}, {1, 2, 3, 4}},
      {{"layer_types"}, "full_attention"},
      {{"rope_parameters"}, 3},
  };
  for (const auto& [path, value] : changes) {
    auto document = mini();
    auto* place = &document["text_config"];
    for (const char* key : path) place = &(*place)[key];
    *place = value;
    // A wrong length of layer_types may be blamed on either of the two keys.
    const std::string blamed = path.back() == std::string("num_hidden_layers") ? "layer" : path.back();
    SCOPED_TRACE(blamed + " = " + value.dump());
    test::expect_error(ErrorCode::usage, {blamed}, [&] { parse(document); });
  }
}

TEST(Config, HostileText) {
  const auto refused = [](const std::string& text, const std::string& said) {
    test::expect_error(ErrorCode::usage, {"hostile", said}, [&] { parse_config(text, "hostile"); });
  };
  refused("", "");
  refused("{", "");
  refused("[]", "object");
  refused("{\"text_config\": 3}", "object");
  refused("{\"text_config\": {}, \"text_config\": {}}", "duplicate key");
  refused(std::string(100000, '['), "nested");
  refused("{\"a\": \"\xff\xfe\"}", "UTF-8");
  refused(std::string("{}\0{}", 5), "NUL");
  refused("{\"hidden_size\": 1e999}", "");
}

TEST(Config, MissingFolderAndFile) {
  const test::Folder folder;
  test::expect_error(ErrorCode::usage, {"config.json", "no such file"}, [&] { read_config(folder.path()); });
  std::filesystem::create_directory(folder.path() / "config.json");
  test::expect_error(ErrorCode::usage, {"config.json", "regular file"}, [&] { read_config(folder.path()); });
}

}  // namespace
}  // namespace branchmark
