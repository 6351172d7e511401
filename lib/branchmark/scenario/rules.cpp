#include <fmt/format.h>

#include <algorithm>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/scenario/parse.hpp"

namespace branchmark {
namespace {

class Rules {
 public:
  Rules(const Scenario& scenario, const std::string& origin) : scenario_(scenario), origin_(origin) {}

  void model() const {
    if (!scenario_.model.preset) return;
    const std::string& name = *scenario_.model.preset;
    std::string known;
    for (const ModelConfig& config : presets()) {
      if (config.name == name) {
        if (scenario_.model.layers.value_or(1) > config.num_layers())
          refuse("/model/layers", std::to_string(*scenario_.model.layers),
                 fmt::format("at most the {} layers of {}", config.num_layers(), name));
        return;
      }
      known += (known.empty() ? "" : ", ") + config.name;
    }
    refuse("/model/preset", json_quoted(name), "one of " + known);
  }

  void prompts() const {
    if (!scenario_.prompts || scenario_.prompts->file) return;
    const auto& prompts = *scenario_.prompts;
    const auto longest =
        *std::max_element(prompts.request_prefix_tokens.begin(), prompts.request_prefix_tokens.end());
    for (std::size_t i = 0; i < prompts.groupings.size(); ++i) {
      const Grouping& grouping = prompts.groupings[i];
      for (std::size_t j = 0; j < i; ++j)
        if (prompts.groupings[j].name == grouping.name)
          refuse(fmt::format("/prompts/groupings/{}/name", i), json_quoted(grouping.name),
                 fmt::format("a name other than grouping {}'s", j));
      for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
        const Group& group = grouping.groups[g];
        for (std::size_t b = 0; b < group.branch_tokens.size(); ++b) {
          const auto tokens = longest + group.prefix_tokens + group.branch_tokens[b];
          if (tokens > kMaxLengthTokens)
            refuse(fmt::format("/prompts/groupings/{}/groups/{}/branch_tokens/{}", i, g, b),
                   fmt::format("a prompt of {} tokens", tokens), fmt::format("at most {}", kMaxLengthTokens));
        }
      }
    }
  }

  void checks() const {
    if (!scenario_.checks) return;
    for (const Check check : *scenario_.checks) {
      const CheckInfo& info = info_of(check);
      if (info.has_need(kNeedsPrompts) && !scenario_.prompts)
        refuse("/checks", fmt::format("\"{}\" without prompts", info.name), "the key \"prompts\" beside it");
      if (info.has_need(kNeedsReference) && !scenario_.reference)
        refuse("/checks", fmt::format("\"{}\" without a reference", info.name),
               "the key \"reference\" beside it");
    }
  }

  void reference() const {
    if (!scenario_.reference) return;
    const bool bounded = !std::holds_alternative<std::monostate>(scenario_.reference->max_relative_l2) ||
                         (scenario_.parity && scenario_.parity->max_relative_l2);
    if (!bounded) refuse("/reference", "no bound", "the key \"max_relative_l2\" here or in \"parity\"");
  }

  void parity() const {
    if (!scenario_.parity) return;
    const ScenarioParity& parity = *scenario_.parity;
    if (parity.right && scenario_.reference)
      refuse("/parity/right", "a second side", "no such key where \"reference\" is the right side");
    if (!parity.right && !scenario_.reference)
      refuse("/parity", "one side", "the key \"right\" here, or the key \"reference\" in the scenario");
    if (parity.right && !scenario_.prompts)
      refuse("/parity", "two sides without prompts", "the key \"prompts\" in the scenario");
    side(parity.left, "/parity/left");
    if (parity.right) side(*parity.right, "/parity/right");
  }

 private:
  void side(const ParitySide& side, const std::string& pointer) const {
    const bool default_handle = side.gemm == GemmKind::default_choice;
    if (side.entry == Entry::forward && !default_handle)
      refuse(pointer + "/gemm", json_quoted(name_of(side.gemm)),
             "\"default\", the only handle that forward runs on");
    if ((side.entry == Entry::forward_fixed || side.entry == Entry::forward_shared) && default_handle)
      refuse(pointer + "/gemm", "\"default\"",
             fmt::format("\"fixed\" or \"class\": {} needs rows that do not depend on their number",
                         name_of(side.entry)));
  }

  [[noreturn]] void refuse(const std::string& pointer, const std::string& found,
                           const std::string& wanted) const {
    throw Error(ErrorCode::usage,
                fmt::format("{}: at {}: found {}, expected {}", origin_, pointer, found, wanted));
  }

  const Scenario& scenario_;
  const std::string& origin_;
};

}  // namespace

void check_rules(const Scenario& scenario, const std::string& origin) {
  const Rules rules(scenario, origin);
  rules.model();
  rules.prompts();
  rules.checks();
  rules.reference();
  rules.parity();
}

}  // namespace branchmark
