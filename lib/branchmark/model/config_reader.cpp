#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json_view.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/model/input_file.hpp"

namespace branchmark {
namespace {

constexpr std::uint64_t kMaxConfigBytes = 16 << 20;
// A first bound for any size; ModelConfig::validate knows the closer ones.
constexpr std::int64_t kMaxSize = 1 << 30;
constexpr std::int64_t kMaxLayers = 1 << 10;

std::int64_t size(const JsonView& object, const char* key) {
  return object.at(key).integer(1, kMaxSize);
}

void require_integer(const JsonView& object, const char* key, std::int64_t wanted) {
  const auto value = object.at(key);
  if (!value.value().is_number_integer() || value.value() != wanted) value.refuse(std::to_string(wanted));
}

void require_string(const JsonView& value, std::string_view wanted) {
  if (value.string() != wanted) value.refuse(fmt::format("\"{}\"", wanted));
}

// A switch whose other setting is not supported; absent means `wanted`.
void require_flag(const JsonView& object, const char* key, bool wanted) {
  const auto value = optional_member(object, key);
  if (value && value->boolean() != wanted) value->refuse(wanted ? "true" : "false");
}

std::vector<LayerKind> read_layers(const JsonView& text) {
  const std::int64_t count = text.at("num_hidden_layers").integer(1, kMaxLayers);
  std::vector<LayerKind> layers;
  const auto types = optional_member(text, "layer_types");
  const auto interval = optional_member(text, "full_attention_interval");
  if (!types && !interval) text.refuse("one of the keys layer_types and full_attention_interval");
  if (!types) {
    const std::int64_t every = interval->integer(1, kMaxLayers);
    for (std::int64_t i = 0; i < count; ++i)
      layers.push_back((i + 1) % every == 0 ? LayerKind::attention : LayerKind::gdn);
    return layers;
  }
  constexpr std::string_view kWords[] = {"linear_attention", "full_attention"};
  const auto items = types->items();
  if (static_cast<std::int64_t>(items.size()) != count)
    types->refuse(fmt::format("num_hidden_layers = {} names, not {}", count, items.size()));
  for (const auto& type : items)
    layers.push_back(type.word(kWords) == 0 ? LayerKind::gdn : LayerKind::attention);
  return layers;
}

// Where the rotary settings stand: all in rope_parameters in newer files; in older ones the scaling in
// rope_scaling, theta and the partial factor beside it.
void read_rotary(const JsonView& text, ModelConfig& config) {
  auto rope = optional_member(text, "rope_parameters");
  if (!rope) rope = optional_member(text, "rope_scaling");
  const auto setting = [&](const char* key) {
    auto found = rope ? optional_member(*rope, key) : std::nullopt;
    return found ? *found : text.at(key);
  };
  config.rope_theta = setting("rope_theta").number(1, 1e300);
  const auto partial = setting("partial_rotary_factor");
  if (partial.number(0, 1) != 0.25) partial.refuse("0.25");
  if (!rope) return;
  for (const char* key : {"rope_type", "type"})
    if (const auto type = optional_member(*rope, key)) require_string(*type, "default");
  require_flag(*rope, "mrope_interleaved", true);
  if (const auto sections = optional_member(*rope, "mrope_section")) {
    const auto items = sections->items();
    if (items.size() != config.mrope_section.size()) sections->refuse("three whole numbers");
    for (std::size_t i = 0; i < items.size(); ++i)
      config.mrope_section[i] = items[i].integer(0, BMK_ROTARY_FREQUENCIES);
  }
}

void require_shape(const JsonView& text) {
  if (const auto type = optional_member(text, "model_type"); type && type->string() != "qwen3_5")
    require_string(*type, "qwen3_5_text");
  require_integer(text, "head_dim", BMK_ATTENTION_HEAD_DIM);
  require_integer(text, "linear_key_head_dim", BMK_GDN_HEAD_DIM);
  require_integer(text, "linear_value_head_dim", BMK_GDN_HEAD_DIM);
  require_integer(text, "linear_conv_kernel_dim", BMK_CONV_TAPS);
  require_string(text.at("hidden_act"), "silu");
  require_flag(text, "attention_bias", false);
  require_flag(text, "attn_output_gate", true);
}

std::string folder_name(const std::filesystem::path& folder) {
  const auto path = std::filesystem::absolute(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

}  // namespace

ModelConfig parse_config(std::string_view text, const std::string& origin) {
  const auto document = parse_json(text, origin);
  const JsonView root(document, origin);
  const auto nested = optional_member(root, "text_config");
  const JsonView& part = nested ? *nested : root;

  require_shape(part);
  ModelConfig config;
  config.name = origin;
  config.hidden = size(part, "hidden_size");
  config.ffn = size(part, "intermediate_size");
  config.vocabulary = size(part, "vocab_size");
  config.query_heads = size(part, "num_attention_heads");
  config.kv_heads = size(part, "num_key_value_heads");
  config.key_heads = size(part, "linear_num_key_heads");
  config.value_heads = size(part, "linear_num_value_heads");
  config.max_positions = size(part, "max_position_embeddings");
  config.rms_eps = static_cast<float>(part.at("rms_norm_eps").number(0, 1));
  config.layers = read_layers(part);
  read_rotary(part, config);
  config.validate();
  return config;
}

ModelConfig read_config(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  auto config = parse_config(read_input(file, kMaxConfigBytes), file.string());
  config.name = folder_name(folder);
  return config;
}

}  // namespace branchmark
