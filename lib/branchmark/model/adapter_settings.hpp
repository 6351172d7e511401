// adapter_config.json of a PEFT LoRA adapter: what decides rank and scale of each module.
#pragma once

#include <cstdint>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace branchmark {

struct AdapterSettings {
  // A module's own value where its name matches; the first matching key of the file counts.
  template <class Value>
  using Patterns = std::vector<std::pair<std::regex, Value>>;

  std::int64_t rank = 0;
  double alpha = 0;
  bool rank_stabilised = false;  // use_rslora: alpha / sqrt(rank)
  Patterns<std::int64_t> rank_pattern;
  Patterns<double> alpha_pattern;

  // `module` as PEFT names it: the tensor's name without "base_model.model." and ".lora_A.weight".
  std::int64_t rank_of(const std::string& module) const;
  // Throws usage where the scale is no finite float32.
  float scale_of(const std::string& module) const;
};

// Throws usage for what is missing or malformed, and for every setting that changes the result in a way that
// y = base + scale · B(A x) does not express.
AdapterSettings read_adapter_settings(const std::filesystem::path& file);

}  // namespace branchmark
