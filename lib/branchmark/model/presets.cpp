#include <algorithm>

#include <fmt/format.h>

#include "branchmark/base/error.hpp"
#include "branchmark/model/config.hpp"

namespace branchmark {
namespace {

struct Sizes {
  const char* name;
  std::int64_t hidden, ffn, vocabulary, num_layers, query_heads, kv_heads, key_heads, value_heads;
};

constexpr Sizes kSizes[] = {
    {"qwen3.5-0.8b", 1024, 3584, 248320, 24, 8, 2, 16, 16},
    {"qwen3.5-2b", 2048, 6144, 248320, 24, 8, 2, 16, 16},
    {"qwen3.5-4b", 2560, 9216, 248320, 32, 16, 4, 16, 32},
    {"qwen3.5-9b", 4096, 12288, 248320, 32, 16, 4, 16, 32},
    {"qwen3.5-27b", 5120, 17408, 248320, 64, 24, 4, 16, 48},
    {"qwen3.5-smoke", 256, 512, 4096, 4, 2, 1, 2, 4},
};

ModelConfig make(const Sizes& sizes) {
  ModelConfig config;
  config.name = sizes.name;
  config.hidden = sizes.hidden;
  config.ffn = sizes.ffn;
  config.vocabulary = sizes.vocabulary;
  config.query_heads = sizes.query_heads;
  config.kv_heads = sizes.kv_heads;
  config.key_heads = sizes.key_heads;
  config.value_heads = sizes.value_heads;
  for (std::int64_t i = 0; i < sizes.num_layers; ++i)
    config.layers.push_back((i + 1) % 4 == 0 ? LayerKind::attention : LayerKind::gdn);
  config.validate();
  return config;
}

}  // namespace

const std::vector<ModelConfig>& presets() {
  static const auto all = [] {
    std::vector<ModelConfig> made;
    for (const auto& sizes : kSizes) made.push_back(make(sizes));
    return made;
  }();
  return all;
}

const ModelConfig& preset(std::string_view name) {
  const auto& all = presets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found != all.end()) return *found;
  std::string known;
  for (const auto& one : all) known += (known.empty() ? "" : ", ") + one.name;
  throw Error(ErrorCode::usage, fmt::format("model preset \"{}\": unknown; known are {}", name, known));
}

}  // namespace branchmark
