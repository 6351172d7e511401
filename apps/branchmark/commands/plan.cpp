#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "branchmark/report/output_file.hpp"
#include "branchmark/scenario/load.hpp"
#include "branchmark/verify/prompt_file.hpp"
#include "branchmark/verify/session.hpp"
#include "commands/commands.hpp"
#include "plan_summary.hpp"
#include "plan_text.hpp"
#include "progress.hpp"

namespace branchmark::app {
namespace {

struct PlanCommandOptions {
  std::string source;
  ScenarioOverrides overrides;
  std::string packing = "packed";
  std::optional<std::string> rates;
  std::optional<std::string> json;
  bool force = false;
};

constexpr const char* kUsualModel = "qwen3.5-4b";

struct PlannedRequest {
  Parameters parameters;
  PrefixTree tree;
};

struct PlanInput {
  ModelConfig config;
  std::string model_note;  // where the model's sizes come from
  bmk_dtype activation = BMK_BF16;
  std::vector<PlannedRequest> requests;
};

PlanInput prompts_input(const PlanCommandOptions& options, const std::string& text) {
  if (options.overrides.checkpoint && options.overrides.preset)
    throw Error(ErrorCode::usage, "plan: expected --model or --checkpoint, found both");
  if (!options.overrides.set.empty())
    throw Error(ErrorCode::usage,
                "plan: found --set, which changes a scenario; a file of prompts has no keys");
  PlanInput input;
  input.config = options.overrides.checkpoint ? read_config(*options.overrides.checkpoint)
                                              : preset(options.overrides.preset.value_or(kUsualModel));
  if (!options.overrides.checkpoint && !options.overrides.preset)
    input.model_note = "assumed, a file of prompts names none; --model PRESET names another";
  input.requests.push_back({{}, PrefixTree::from_prompts(parse_prompts(text, options.source), nullptr)});
  return input;
}

// The grid of a bench block, as trees of zeros: only lengths count.
void add_bench_grid(const BenchSharedGrid& grid, std::vector<PlannedRequest>& requests) {
  const auto zeros = [](std::int64_t count) { return Tokens(static_cast<std::size_t>(count)); };
  for (const auto prefix : grid.prefix_tokens)
    for (const auto branches : grid.branches)
      for (const auto tokens : grid.branch_tokens) {
        PromptGroup group;
        group.branches.assign(static_cast<std::size_t>(branches), zeros(tokens));
        requests.push_back({{{"prefix", prefix}, {"branches", branches}, {"branch_tokens", tokens}},
                            PrefixTree::from_groups(zeros(prefix), {std::move(group)})});
      }
}

PlanInput scenario_input(const Scenario& scenario) {
  const Session session(scenario, {});
  PlanInput input;
  input.config = session.config();
  input.activation = scenario.model.numerics == Numerics::reference ? BMK_F32 : BMK_BF16;
  for (const auto& request : session.requests()) input.requests.push_back({request.parameters, request.tree});
  if (scenario.bench && scenario.bench->shared) add_bench_grid(*scenario.bench->shared, input.requests);
  if (input.requests.empty())
    throw Error(ErrorCode::usage,
                fmt::format("scenario {}: found neither /prompts nor /bench/shared, expected prompts to plan",
                            scenario.name));
  return input;
}

PlanInput read_input(const PlanCommandOptions& options) {
  const bool is_file = options.source.find('/') != std::string::npos ||
                       std::filesystem::path(options.source).has_extension() ||
                       std::filesystem::exists(options.source);
  if (!is_file) return scenario_input(load_scenario(options.source, options.overrides));
  const auto text = read_file(options.source);
  const auto first = text.find_first_not_of(" \t\r\n");
  const bool is_prompts =
      options.source.ends_with(".jsonl") || (first != std::string::npos && text[first] == '[');
  if (is_prompts) return prompts_input(options, text);
  return scenario_input(parse_scenario(
      text, options.source, std::filesystem::path(options.source).parent_path(), options.overrides));
}

Exit run_plan(const PlanCommandOptions& options) {
  std::optional<OutputFile> file;
  const auto replace = options.force ? Replace::replace : Replace::refuse;
  if (options.json) check_output(*options.json, replace);
  const auto input = read_input(options);
  std::optional<PassRates> rates;
  if (options.rates)
    rates = PassRates::from_report(read_report(*options.rates), input.config, *options.rates);
  PlanText text;
  text.source = options.source;
  text.packing = options.packing;
  text.model = input.config.name;
  text.model_note = input.model_note;
  text.weight_bytes = weight_bytes(input.config);
  if (rates) text.rates_basis = rates->basis();
  const auto packing = options.packing == "packed" ? Packing::packed : Packing::per_branch;
  for (const auto& [parameters, tree] : input.requests) {
    validate(tree, {input.config.vocabulary, input.config.max_positions});
    text.requests.push_back(summarize_plan(tree, parameters, input.config, input.activation, packing, rates));
  }
  if (options.json) file = OutputFile::open(*options.json, OutputKind::whole, replace);
  say(plan_table(text));
  if (file) {
    file->write(plan_json(text));
    file->commit();
  }
  return make_exit(kExitOk, plan_verdict(text));
}

}  // namespace

Command add_plan(CLI::App& app) {
  const auto options = std::make_shared<PlanCommandOptions>();
  auto* parser = app.add_subcommand("plan",
                                    "Says what sharing prefixes saves, and how much memory it takes, without "
                                    "a device: for the prompts of a "
                                    "scenario,\n"
                                    "or for a file of prompts (JSON lines, one list of token ids a line), "
                                    "whose common prefixes it finds.\n\n"
                                    "Example: branchmark plan prompts.jsonl --model qwen3.5-9b");
  parser->add_option("source", options->source, "A scenario, the name of a shipped one, or a file of prompts")
      ->required()
      ->type_name("SCENARIO.json|PROMPTS.jsonl");
  parser
      ->add_option("--model", options->overrides.preset,
                   fmt::format("The model's sizes [the scenario's; {} for a file of prompts]", kUsualModel))
      ->type_name("PRESET");
  parser->add_option("--checkpoint", options->overrides.checkpoint, "The model's sizes, from a checkpoint")
      ->type_name("DIR");
  parser->add_option("--set", options->overrides.set, "Changes one scenario key: a.b.0=VALUE")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  parser->add_option("--packing", options->packing, "packed (a pass a level) or per_branch (a pass a run)")
      ->capture_default_str()
      ->check(CLI::IsMember({"packed", "per_branch"}))
      ->type_name("PACKING");
  parser->add_option("--rates", options->rates, "Times from this report of bench; without: none")
      ->type_name("REPORT.json");
  parser->add_option("--json", options->json, "Also write the plan as JSON; - is stdout")->type_name("FILE");
  parser->add_flag("--force", options->force, "Replace an existing output");
  return {parser, [options](const std::vector<std::string>&) { return run_plan(*options); }};
}

}  // namespace branchmark::app
