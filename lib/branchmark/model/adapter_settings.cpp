#include "branchmark/model/adapter_settings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json_view.hpp"
#include "branchmark/model/adapter.hpp"
#include "branchmark/model/input_file.hpp"

namespace branchmark {
namespace {

constexpr std::uint64_t kMaxSettingsBytes = 256 << 10;
constexpr std::size_t kMaxPatternBytes = 256;
constexpr std::int64_t kMaxRank = 128;
constexpr double kMaxAlpha = 1e300;

std::int64_t read_rank(const JsonView& value) {
  return value.integer(1, kMaxRank);
}

double read_alpha(const JsonView& value) {
  return value.number(-kMaxAlpha, kMaxAlpha);
}

bool flag(const JsonView& root, const char* key) {
  const auto value = optional_member(root, key);
  return value && value->boolean();
}

// Matching in time that grows with pattern times name: a file from elsewhere may hold a pattern on which a
// search that backs up would not end. libstdc++ has it as an extension, which refuses references to groups.
constexpr auto kPatternSyntax = std::regex::ECMAScript | std::regex_constants::__polynomial;

// PEFT's rule: a key is a regular expression and matches a module of that name, or one whose name ends in "."
// and the name. `in_order` is the same object with its keys in the order of the file.
template <class Value>
AdapterSettings::Patterns<Value> read_patterns(const JsonView& root, const nlohmann::ordered_json& in_order,
                                               const char* key, Value (*read_value)(const JsonView&)) {
  AdapterSettings::Patterns<Value> patterns;
  const auto object = optional_member(root, key);
  if (!object) return patterns;
  object->require_object();
  for (const auto& [pattern, ignored] : in_order.at(key).items()) {
    const auto value = object->at(pattern);
    if (pattern.size() > kMaxPatternBytes)
      value.refuse(fmt::format("a pattern of at most {} bytes", kMaxPatternBytes));
    try {
      patterns.emplace_back(std::regex("(.*\\.)?(" + pattern + ")", kPatternSyntax), read_value(value));
    } catch (const std::regex_error& error) {
      value.refuse(fmt::format("a regular expression as its key ({})", error.what()));
    }
  }
  return patterns;
}

void require_known_target(const JsonView& target) {
  const auto name = target.string();
  if (!projection_named(std::string_view(name).substr(name.rfind('.') + 1)))
    target.refuse("a projection of the text backbone, such as \"q_proj\"");
}

void require_lora(const JsonView& root) {
  if (const auto type = root.at("peft_type"); type.string() != "LORA") type.refuse("\"LORA\"");
  for (const char* key : {"use_dora", "lora_bias", "fan_in_fan_out", "use_qalora"})
    if (flag(root, key)) root.at(key).refuse("false");
  if (const auto bias = optional_member(root, "bias"); bias && bias->string() != "none")
    bias->refuse("\"none\"");
  for (const char* key : {"modules_to_save", "target_parameters", "layer_replication",
                          "trainable_token_indices", "alora_invocation_tokens", "use_bdlora"}) {
    const auto value = optional_member(root, key);
    if (value && !value->value().empty() && value->value() != false) value->refuse("null");
  }
  // Initialisations that also change the base weights (PiSSA, OLoRA, CorDA, LoftQ, ...) leave an adapter that
  // belongs to another base model than the stored one.
  constexpr std::string_view kHarmless[] = {"gaussian", "eva", "orthogonal"};
  const auto init = optional_member(root, "init_lora_weights");
  if (init && !init->value().is_boolean()) init->word(kHarmless);
  const auto targets = optional_member(root, "target_modules");
  if (targets && targets->value().is_array())
    for (const auto& target : targets->items()) require_known_target(target);
}

template <class Value>
Value value_for(const std::string& module, const AdapterSettings::Patterns<Value>& patterns,
                Value otherwise) {
  const auto found = std::find_if(patterns.begin(), patterns.end(), [&](const auto& pattern) {
    return std::regex_match(module, pattern.first);
  });
  return found == patterns.end() ? otherwise : found->second;
}

}  // namespace

std::int64_t AdapterSettings::rank_of(const std::string& module) const {
  return value_for(module, rank_pattern, rank);
}

float AdapterSettings::scale_of(const std::string& module) const {
  const double module_alpha = value_for(module, alpha_pattern, alpha);
  const auto module_rank = static_cast<double>(rank_of(module));
  const double scale = module_alpha / (rank_stabilised ? std::sqrt(module_rank) : module_rank);
  if (!(std::abs(scale) <= std::numeric_limits<float>::max()))
    throw Error(ErrorCode::usage,
                fmt::format("adapter module {}: scale: found lora_alpha {} over rank {}, which "
                            "is {}; expected a finite float32",
                            module, module_alpha, module_rank, scale));
  return static_cast<float>(scale);
}

AdapterSettings read_adapter_settings(const std::filesystem::path& file) {
  const auto text = read_input(file, kMaxSettingsBytes);
  const auto document = parse_json(text, file.string());
  const JsonView root(document, file.string());
  require_lora(root);
  // Parsed again for the order of the pattern keys, which the first parse does not keep.
  const auto in_order = nlohmann::ordered_json::parse(text);
  AdapterSettings settings;
  settings.rank = read_rank(root.at("r"));
  settings.alpha = read_alpha(root.at("lora_alpha"));
  settings.rank_stabilised = flag(root, "use_rslora");
  settings.rank_pattern = read_patterns(root, in_order, "rank_pattern", read_rank);
  settings.alpha_pattern = read_patterns(root, in_order, "alpha_pattern", read_alpha);
  return settings;
}

}  // namespace branchmark
