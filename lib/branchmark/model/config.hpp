// Sizes and constants of a Qwen3.5 text backbone, from a preset or from a checkpoint's config.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/kernels.h"

namespace branchmark {

enum class LayerKind { gdn, attention };

struct ModelConfig {
  std::string name;  // preset name, or the checkpoint folder's name
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t vocabulary = 0;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t key_heads = 0;    // GDN
  std::int64_t value_heads = 0;  // GDN
  std::int64_t max_positions = 262144;
  double rope_theta = 1e7;
  float rms_eps = 1e-6f;
  std::array<std::int64_t, 3> mrope_section = {11, 11, 10};  // temporal, height, width
  std::vector<LayerKind> layers;

  std::int64_t num_layers() const { return static_cast<std::int64_t>(layers.size()); }
  std::int64_t num_layers(LayerKind kind) const;

  std::int64_t key_width() const { return BMK_GDN_HEAD_DIM * key_heads; }
  std::int64_t value_width() const { return BMK_GDN_HEAD_DIM * value_heads; }
  std::int64_t conv_channels() const { return 2 * key_width() + value_width(); }
  std::int64_t query_width() const { return BMK_ATTENTION_HEAD_DIM * query_heads; }
  std::int64_t kv_width() const { return BMK_ATTENTION_HEAD_DIM * kv_heads; }

  // Columns of the stacked projections. The beta and gate columns of a GDN, and the two halves of gate|up,
  // begin at multiples of 8: narrower parts are padded with zero weight rows (the presets need none).
  //   GDN input   q|k|v | z | b | a   at 0, conv_channels, conv_channels + value_width, ...
  //   attention   q with gate | k | v
  std::int64_t gdn_z_column() const { return conv_channels(); }
  std::int64_t gdn_b_column() const { return conv_channels() + value_width(); }
  std::int64_t gdn_a_column() const;
  std::int64_t gdn_input_width() const;
  std::int64_t attention_key_column() const { return 2 * query_width(); }
  std::int64_t attention_value_column() const { return 2 * query_width() + kv_width(); }
  std::int64_t attention_input_width() const { return 2 * query_width() + 2 * kv_width(); }
  std::int64_t ffn_up_column() const;
  std::int64_t gate_up_width() const;

  // Throws usage, naming the field, the value found and what is supported.
  void validate() const;

  bool operator==(const ModelConfig&) const = default;
};

// "qwen3.5-0.8b", "-2b", "-4b", "-9b", "-27b" and "qwen3.5-smoke" (made up: small enough for any CPU).
const std::vector<ModelConfig>& presets();
// Throws usage for an unknown name, listing the known ones.
const ModelConfig& preset(std::string_view name);

// Reads `folder`/config.json (`text_config` if present, else the root). Throws usage for what is missing,
// malformed or unsupported, io for what cannot be read.
ModelConfig read_config(const std::filesystem::path& folder);
// As read_config, from text; `origin` names it in messages.
ModelConfig parse_config(std::string_view text, const std::string& origin);

// The first `count` layers only. Throws usage unless 1 <= count <= layers.
ModelConfig with_layers(ModelConfig config, std::int64_t count);

}  // namespace branchmark
