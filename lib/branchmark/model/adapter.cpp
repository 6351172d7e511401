#include "branchmark/model/adapter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/digest.hpp"
#include "branchmark/base/error.hpp"
#include "branchmark/model/adapter_settings.hpp"
#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/tensor_sum.hpp"

namespace branchmark {
namespace {

enum class Block { gdn, attention, mlp };

struct ProjectionName {
  Projection projection;
  const char* name;
  Block block;
};

constexpr ProjectionName kProjections[] = {
    {Projection::in_proj_qkv, "in_proj_qkv", Block::gdn}, {Projection::in_proj_z, "in_proj_z", Block::gdn},
    {Projection::in_proj_b, "in_proj_b", Block::gdn},     {Projection::in_proj_a, "in_proj_a", Block::gdn},
    {Projection::out_proj, "out_proj", Block::gdn},       {Projection::q_proj, "q_proj", Block::attention},
    {Projection::k_proj, "k_proj", Block::attention},     {Projection::v_proj, "v_proj", Block::attention},
    {Projection::o_proj, "o_proj", Block::attention},     {Projection::gate_proj, "gate_proj", Block::mlp},
    {Projection::up_proj, "up_proj", Block::mlp},         {Projection::down_proj, "down_proj", Block::mlp},
};

const ProjectionName& entry_of(Projection projection) {
  return *std::find_if(std::begin(kProjections), std::end(kProjections),
                       [&](const auto& entry) { return entry.projection == projection; });
}

std::string_view folder_of(Block block) {
  switch (block) {
    case Block::gdn:
      return "linear_attn.";
    case Block::attention:
      return "self_attn.";
    case Block::mlp:
      return "mlp.";
  }
  return "";
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// A plain decimal number without leading zeros, followed by a dot.
std::optional<std::int64_t> take_layer(std::string_view& text) {
  constexpr std::size_t kMaxDigits = 6;
  const auto dot = text.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot > kMaxDigits || (dot > 1 && text[0] == '0'))
    return std::nullopt;
  std::int64_t layer = 0;
  for (const char c : text.substr(0, dot)) {
    if (c < '0' || c > '9') return std::nullopt;
    layer = layer * 10 + (c - '0');
  }
  text.remove_prefix(dot + 1);
  return layer;
}

// What a tensor's name says:
// base_model.model.[model.][language_model.]layers.N.BLOCK.PROJECTION.lora_X.weight
struct Target {
  std::int64_t layer = 0;
  Projection projection{};
  bool is_a = false;
  std::string module;  // the name that PEFT matches patterns against
};

std::optional<Target> parse_name(std::string_view name) {
  if (!take_prefix(name, "base_model.model.")) return std::nullopt;
  Target target;
  const auto dot_lora = name.rfind(".lora_");
  if (dot_lora == std::string_view::npos) return std::nullopt;
  const auto ending = name.substr(dot_lora);
  if (ending != ".lora_A.weight" && ending != ".lora_B.weight") return std::nullopt;
  target.is_a = ending == ".lora_A.weight";
  target.module = name.substr(0, dot_lora);

  std::string_view rest = target.module;
  take_prefix(rest, "model.");
  take_prefix(rest, "language_model.");
  if (!take_prefix(rest, "layers.")) return std::nullopt;
  const auto layer = take_layer(rest);
  if (!layer) return std::nullopt;
  target.layer = *layer;
  const auto found = std::find_if(std::begin(kProjections), std::end(kProjections), [&](const auto& entry) {
    auto tail = rest;
    return take_prefix(tail, folder_of(entry.block)) && tail == entry.name;
  });
  if (found == std::end(kProjections)) return std::nullopt;
  target.projection = found->projection;
  return target;
}

// The values in float32; bf16 is widened. Throws for any that is NaN or infinite.
std::vector<float> read_values(const Tensor& tensor, const std::string& name) {
  const bool narrow = tensor.type == TensorType::bf16;
  std::vector<float> values(tensor.data.size() / (narrow ? sizeof(std::uint16_t) : sizeof(float)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (narrow) {
      std::uint16_t bits;
      std::memcpy(&bits, tensor.data.data() + i * sizeof bits, sizeof bits);
      values[i] = bf16_to_float(bits);
    } else {
      std::memcpy(&values[i], tensor.data.data() + i * sizeof(float), sizeof(float));
    }
    if (!std::isfinite(values[i]))
      throw Error(ErrorCode::usage,
                  fmt::format("adapter tensor \"{}\": found {} at element {}, expected finite "
                              "values",
                              name, values[i], i));
  }
  return values;
}

const Tensor& tensor_of_shape(const Safetensors& file, const std::string& name,
                              const std::vector<std::int64_t>& shape) {
  const auto& tensor = file.at(name);
  if (tensor.type == TensorType::i64)
    throw Error(ErrorCode::usage,
                fmt::format("adapter tensor \"{}\": found type I64, supported: F32, BF16", name));
  if (tensor.shape != shape)
    throw Error(ErrorCode::usage, fmt::format("adapter tensor \"{}\": found shape [{}], expected [{}]", name,
                                              fmt::join(tensor.shape, ", "), fmt::join(shape, ", ")));
  return tensor;
}

struct Pair {
  std::string module;
  std::string a;  // tensor names; empty: not seen
  std::string b;
};
using Pairs = std::map<std::pair<std::int64_t, Projection>, Pair>;

void require_layer(const ModelConfig& config, const Target& target, const std::string& name) {
  if (target.layer >= config.num_layers())
    throw Error(ErrorCode::usage, fmt::format("adapter tensor \"{}\": found layer {}, expected 0 to {}", name,
                                              target.layer, config.num_layers() - 1));
  const auto kind = config.layers[static_cast<std::size_t>(target.layer)];
  if (!has_projection(kind, target.projection))
    throw Error(ErrorCode::usage,
                fmt::format("adapter tensor \"{}\": layer {} is {} and has no {}", name, target.layer,
                            kind == LayerKind::gdn ? "a gated delta net" : "full attention",
                            name_of(target.projection)));
}

Pairs collect(const Safetensors& file, const ModelConfig& config) {
  Pairs pairs;
  for (const auto& name : file.names()) {
    const auto target = parse_name(name);
    if (!target)
      throw Error(
          ErrorCode::usage,
          fmt::format("adapter tensor \"{}\": unknown target, expected lora_A.weight and lora_B.weight of "
                      "the text backbone's projections",
                      name));
    require_layer(config, *target, name);
    auto& pair = pairs[{target->layer, target->projection}];
    auto& slot = target->is_a ? pair.a : pair.b;
    if (!slot.empty() || (!pair.module.empty() && pair.module != target->module))
      throw Error(ErrorCode::usage,
                  fmt::format("adapter tensor \"{}\": layer {} {} is already given as \"{}\"", name,
                              target->layer, name_of(target->projection), pair.module));
    pair.module = target->module;
    slot = name;
  }
  for (const auto& [key, pair] : pairs)
    if (pair.a.empty() || pair.b.empty())
      throw Error(ErrorCode::usage, fmt::format("adapter module \"{}\": {} is missing", pair.module,
                                                pair.a.empty() ? "lora_A.weight" : "lora_B.weight"));
  return pairs;
}

}  // namespace

std::string_view name_of(Projection projection) {
  return entry_of(projection).name;
}

std::optional<Projection> projection_named(std::string_view name) {
  for (const auto& entry : kProjections)
    if (name == entry.name) return entry.projection;
  return std::nullopt;
}

bool has_projection(LayerKind kind, Projection projection) {
  switch (entry_of(projection).block) {
    case Block::gdn:
      return kind == LayerKind::gdn;
    case Block::attention:
      return kind == LayerKind::attention;
    case Block::mlp:
      return true;
  }
  return false;
}

ProjectionPlace place_of(const ModelConfig& config, Projection projection) {
  switch (projection) {
    case Projection::in_proj_qkv:
      return {0, config.conv_channels(), config.hidden};
    case Projection::in_proj_z:
      return {config.gdn_z_column(), config.value_width(), config.hidden};
    case Projection::in_proj_b:
      return {config.gdn_b_column(), config.value_heads, config.hidden};
    case Projection::in_proj_a:
      return {config.gdn_a_column(), config.value_heads, config.hidden};
    case Projection::out_proj:
      return {0, config.hidden, config.value_width()};
    case Projection::q_proj:
      return {0, 2 * config.query_width(), config.hidden};
    case Projection::k_proj:
      return {config.attention_key_column(), config.kv_width(), config.hidden};
    case Projection::v_proj:
      return {config.attention_value_column(), config.kv_width(), config.hidden};
    case Projection::o_proj:
      return {0, config.hidden, config.query_width()};
    case Projection::gate_proj:
      return {0, config.ffn, config.hidden};
    case Projection::up_proj:
      return {config.ffn_up_column(), config.ffn, config.hidden};
    case Projection::down_proj:
      return {0, config.hidden, config.ffn};
  }
  return {};
}

Adapter read_adapter(const std::filesystem::path& folder, const ModelConfig& config) {
  const auto settings = read_adapter_settings(folder / "adapter_config.json");
  const auto weights_file = folder / "adapter_model.safetensors";
  std::error_code unreadable;  // left to Safetensors, which says why
  if (!std::filesystem::exists(weights_file, unreadable) && !unreadable)
    throw Error(ErrorCode::usage, fmt::format("{}: no such file", weights_file.string()));
  const Safetensors file(weights_file);
  const auto pairs = collect(file, config);
  if (pairs.empty())
    throw Error(ErrorCode::usage, fmt::format("{}: holds no lora_A and lora_B pair", weights_file.string()));

  Adapter adapter;
  Sha256 digest;
  for (const auto& [key, pair] : pairs) {
    const auto [layer, projection] = key;
    const auto place = place_of(config, projection);
    const auto rank = settings.rank_of(pair.module);
    const auto& a = tensor_of_shape(file, pair.a, {rank, place.inputs});
    const auto& b = tensor_of_shape(file, pair.b, {place.outputs, rank});
    const auto& delta = adapter.deltas.emplace_back(Adapter::Delta{.layer = layer,
                                                                   .projection = projection,
                                                                   .rank = rank,
                                                                   .scale = settings.scale_of(pair.module),
                                                                   .a = read_values(a, pair.a),
                                                                   .b = read_values(b, pair.b)});
    digest.update(fmt::format("{} {} rank {} scale {:a} a {:016x} b {:016x}\n", layer, name_of(projection),
                              rank, delta.scale, TensorSum(a.data).finish(), TensorSum(b.data).finish()));
  }
  adapter.digest = digest.hex();
  return adapter;
}

}  // namespace branchmark
