#include "branchmark/verify/session.hpp"

#include <fmt/format.h>

#include "branchmark/base/digest.hpp"
#include "branchmark/base/random.hpp"
#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/merge.hpp"
#include "branchmark/verify/prompt_file.hpp"

namespace branchmark {
namespace {

ModelConfig config_of(const ScenarioModel& model) {
  auto config = model.preset ? preset(*model.preset) : read_config(model.checkpoint->resolved);
  return model.layers ? with_layers(std::move(config), *model.layers) : config;
}

Tokens random_tokens(const ModelConfig& config, std::uint64_t seed, const std::string& name,
                     std::int64_t count) {
  Random random(seed, name);
  Tokens tokens(static_cast<std::size_t>(count));
  for (auto& token : tokens)
    token = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(config.vocabulary)));
  return tokens;
}

Request grid_request(const ModelConfig& config, const ScenarioPrompts& prompts, std::int64_t prefix,
                     const Grouping& grouping) {
  std::vector<PromptGroup> groups;
  for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
    const auto& shape = grouping.groups[g];
    const auto name = fmt::format("{}/group {}", grouping.name, g);
    PromptGroup group;
    group.prefix = random_tokens(config, prompts.seed, name, shape.prefix_tokens);
    for (std::size_t b = 0; b < shape.branch_tokens.size(); ++b)
      group.branches.push_back(
          random_tokens(config, prompts.seed, fmt::format("{}/branch {}", name, b), shape.branch_tokens[b]));
    groups.push_back(std::move(group));
  }
  return {.parameters = {{"prefix", prefix}, {"grouping", grouping.name}},
          .tree = PrefixTree::from_groups(random_tokens(config, prompts.seed, "request", prefix),
                                          std::move(groups)),
          .prompts = {}};
}

std::vector<Request> make_requests(const ModelConfig& config, const Scenario& scenario) {
  std::vector<Request> requests;
  if (!scenario.prompts) return requests;
  const auto& prompts = *scenario.prompts;
  if (prompts.file) {
    const auto list = read_prompt_file(prompts.file->resolved);
    requests.push_back({.parameters = {{"file", prompts.file->written}},
                        .tree = PrefixTree::from_prompts(list, nullptr),
                        .prompts = {}});
  } else {
    for (const auto prefix : prompts.request_prefix_tokens)
      for (const auto& grouping : prompts.groupings)
        requests.push_back(grid_request(config, prompts, prefix, grouping));
  }
  for (auto& request : requests) {
    validate(request.tree, {config.vocabulary, config.max_positions});
    request.prompts = full_prompts(request.tree);
  }
  return requests;
}

// What makes two prompts the same input.
std::string identity(const Prompt& prompt) {
  std::string bytes(reinterpret_cast<const char*>(prompt.tokens.data()),
                    prompt.tokens.size() * sizeof(std::int32_t));
  for (const auto& row : prompt.positions.rows)
    bytes.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(std::int32_t));
  return bytes;
}

}  // namespace

std::string_view name_of(Level level) {
  switch (level) {
    case Level::quick:
      return "quick";
    case Level::medium:
      return "medium";
    case Level::full:
      return "long";
  }
  return "medium";
}

Session::Session(Scenario scenario, SessionOptions options)
    : scenario_(std::move(scenario)),
      options_(std::move(options)),
      config_(config_of(scenario_.model)),
      requests_(make_requests(config_, scenario_)) {
  if (scenario_.model.adapter) adapter_ = read_adapter(scenario_.model.adapter->resolved, config_);
}

const std::shared_ptr<Context>& Session::context() {
  if (context_ == nullptr) context_ = options_.open_context(std::nullopt, std::nullopt);
  return context_;
}

std::shared_ptr<const Weights> Session::load_weights_on(std::shared_ptr<Context> context) const {
  const auto& model = scenario_.model;
  auto weights = model.preset
                     ? make_synthetic_weights(context, config_, model.seed)
                     : branchmark::load_weights(context, config_, Checkpoint(model.checkpoint->resolved));
  if (model.merge) merge(*context, config_, *adapter_, weights);
  return std::make_shared<const Weights>(std::move(weights));
}

const std::shared_ptr<const Weights>& Session::weights() {
  if (weights_ == nullptr) weights_ = load_weights_on(context());
  return weights_;
}

ModelOptions Session::model_options() const {
  ModelOptions options;
  options.reference_numerics = scenario_.model.numerics == Numerics::reference;
  options.gdn_fp32 = scenario_.model.gdn == GdnNumerics::fp32;
  if (!scenario_.model.merge) options.adapter = adapter_;
  return options;
}

Profile Session::profile() const {
  const auto& model = scenario_.model;
  return {.unmerged_adapter = model.adapter && !model.merge,
          .reference_numerics = model.numerics == Numerics::reference,
          .gdn_fp32 = model.gdn == GdnNumerics::fp32};
}

void Session::require_shareable_profile(const std::string& what) const {
  if (profile().shareable()) return;
  throw Error(ErrorCode::usage,
              fmt::format("/model: found {}, expected merged weights and default numerics, for which alone "
                          "sharing is proven, and which {} needs; branchmark profile-check shows what each "
                          "profile admits",
                          profile().describe(), what));
}

std::unique_ptr<Model> Session::make_model(const ModelOptions& options) {
  auto with_gemm = options;
  with_gemm.gemm = options_.gemm;
  return std::make_unique<Model>(context(), config_, weights(), std::move(with_gemm));
}

Model& Session::model() {
  if (model_ == nullptr) model_ = make_model(model_options());
  return *model_;
}

Model* Session::graph_model() {
  if (context()->info().supports_graphs == 0) return nullptr;
  if (graph_model_ == nullptr) {
    auto options = model_options();
    options.graphs = true;
    graph_model_ = make_model(options);
  }
  return graph_model_.get();
}

const HiddenRows& Session::fixed(const Prompt& prompt, GemmKind gemm) {
  const std::pair key{gemm, identity(prompt)};
  auto found = fixed_.find(key);
  if (found == fixed_.end()) found = fixed_.emplace(key, model().forward_fixed(prompt, gemm)).first;
  return found->second;
}

std::string Session::recorded_digest(const HiddenRows& rows) const {
  return recorded_digest(rows.bytes(), rows.activation);
}

std::string Session::recorded_digest(std::span<const std::byte> bytes, bmk_dtype type) const {
  return options_.kept_outputs ? options_.kept_outputs->keep(bytes, type) : sha256_hex(bytes);
}

std::string Session::command_for(const std::string& key) const {
  std::string pattern;
  for (const char c : key) {
    if (std::string_view(".[]{}()*+?^$|\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return fmt::format("{} --filter '^{}$'", options_.command, pattern);
}

Prompt Session::random_prompt(const std::string& name, std::int64_t tokens) const {
  const auto seed = scenario_.prompts ? scenario_.prompts->seed : 1;
  return {random_tokens(config_, seed, name, tokens), {}};
}

}  // namespace branchmark
