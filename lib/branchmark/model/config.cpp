#include "branchmark/model/config.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "branchmark/base/error.hpp"
#include "branchmark/device/device_buffer.hpp"

namespace branchmark {
namespace {

[[noreturn]] void refuse(const ModelConfig& config, std::string_view field, const std::string& found,
                         const std::string& wanted) {
  throw Error(ErrorCode::usage,
              fmt::format("model {}: {}: found {}, supported: {}",
                          config.name.empty() ? "config" : config.name, field, found, wanted));
}

void require_range(const ModelConfig& config, std::string_view field, std::int64_t value, std::int64_t most) {
  if (value < 1 || value > most) refuse(config, field, std::to_string(value), fmt::format("1 to {}", most));
}

void require_divides(const ModelConfig& config, std::string_view field, std::int64_t value,
                     std::string_view by_field, std::int64_t by) {
  if (value % by != 0)
    refuse(config, field, std::to_string(value), fmt::format("multiples of {} ({})", by_field, by));
}

}  // namespace

std::int64_t ModelConfig::num_layers(LayerKind kind) const {
  return static_cast<std::int64_t>(std::count(layers.begin(), layers.end(), kind));
}

std::int64_t ModelConfig::gdn_a_column() const {
  return gdn_b_column() + padded_columns(value_heads);
}

std::int64_t ModelConfig::gdn_input_width() const {
  return gdn_a_column() + padded_columns(value_heads);
}

std::int64_t ModelConfig::ffn_up_column() const {
  return padded_columns(ffn);
}

std::int64_t ModelConfig::gate_up_width() const {
  return 2 * padded_columns(ffn);
}

// The upper bounds are far above any model of the family; they keep every product of sizes inside int64.
void ModelConfig::validate() const {
  require_range(*this, "hidden_size", hidden, 1 << 16);
  if (hidden % 8 != 0) refuse(*this, "hidden_size", std::to_string(hidden), "multiples of 8");
  require_range(*this, "intermediate_size", ffn, 1 << 20);
  require_range(*this, "vocab_size", vocabulary, 1 << 24);
  require_range(*this, "num_attention_heads", query_heads, 1 << 10);
  require_range(*this, "num_key_value_heads", kv_heads, 1 << 10);
  require_range(*this, "linear_num_key_heads", key_heads, 1 << 10);
  require_range(*this, "linear_num_value_heads", value_heads, 1 << 10);
  require_range(*this, "max_position_embeddings", max_positions, 1 << 24);
  require_range(*this, "num_hidden_layers", num_layers(), 1 << 10);
  require_divides(*this, "num_attention_heads", query_heads, "num_key_value_heads", kv_heads);
  require_divides(*this, "linear_num_value_heads", value_heads, "linear_num_key_heads", key_heads);
  if (!std::isfinite(rope_theta) || rope_theta < 1)
    refuse(*this, "rope_theta", fmt::format("{}", rope_theta), "finite numbers from 1");
  if (!(rms_eps > 0) || !(rms_eps < 1))
    refuse(*this, "rms_norm_eps", fmt::format("{}", rms_eps), "float32 numbers between 0 and 1");
  const auto [temporal, height, width] = mrope_section;
  const auto in_range = [](std::int64_t n) { return n >= 0 && n <= BMK_ROTARY_FREQUENCIES; };
  if (!in_range(temporal) || !in_range(height) || !in_range(width) ||
      temporal + height + width != BMK_ROTARY_FREQUENCIES)
    refuse(*this, "mrope_section", fmt::format("[{}, {}, {}]", temporal, height, width),
           fmt::format("three counts that sum to {}", BMK_ROTARY_FREQUENCIES));
}

ModelConfig with_layers(ModelConfig config, std::int64_t count) {
  if (count < 1 || count > config.num_layers())
    throw Error(ErrorCode::usage, fmt::format("model {}: layers: found {}, expected 1 to {}", config.name,
                                              count, config.num_layers()));
  config.layers.resize(static_cast<std::size_t>(count));
  return config;
}

}  // namespace branchmark
