#include "branchmark/scenario/parse.hpp"

#include <algorithm>

#include "branchmark/base/json_view.hpp"
#include "branchmark/scenario/words.hpp"

namespace branchmark {
namespace {

class Reader {
 public:
  explicit Reader(const std::filesystem::path& folder) : folder_(folder) {}

  ScenarioModel model(const JsonView& view) const {
    view.only({"preset", "checkpoint", "weights", "seed", "layers", "adapter", "merge", "numerics", "gdn"});
    static constexpr std::array<std::string_view, 1> kWeights = {"synthetic"};
    ScenarioModel model;
    if (const auto preset = view.find("preset")) model.preset = preset->label();
    model.checkpoint = optional_path(view, "checkpoint");
    if (model.preset.has_value() == model.checkpoint.has_value())
      view.refuse("exactly one of the keys \"preset\" and \"checkpoint\"");
    if (const auto weights = view.find("weights")) {
      if (model.checkpoint) weights->refuse("no such key beside \"checkpoint\", which brings its weights");
      weights->word(kWeights);
    }
    model.seed = seed(view);
    if (const auto layers = view.find("layers")) model.layers = layers->integer(1, 4096);
    model.adapter = optional_path(view, "adapter");
    if (const auto merge = view.find("merge")) {
      if (!model.adapter) merge->refuse("no such key without \"adapter\", which is what it merges");
      model.merge = merge->boolean();
    }
    word(view, "numerics", kNumericsWords, model.numerics);
    word(view, "gdn", kGdnWords, model.gdn);
    return model;
  }

  ScenarioPrompts prompts(const JsonView& view) const {
    view.only({"request_prefix_tokens", "groupings", "file", "seed"});
    ScenarioPrompts prompts;
    prompts.seed = seed(view);
    prompts.file = optional_path(view, "file");
    const auto prefixes = view.find("request_prefix_tokens");
    const auto groupings = view.find("groupings");
    if (prompts.file) {
      if (prefixes) prefixes->refuse("no such key beside \"file\"");
      if (groupings) groupings->refuse("no such key beside \"file\"");
      return prompts;
    }
    if (!groupings) view.refuse("one of the keys \"groupings\" and \"file\"");
    prompts.request_prefix_tokens = prefixes ? lengths(*prefixes, 0, true) : std::vector<std::int64_t>{0};
    for (const JsonView& item : groupings->items(1, kMaxListItems))
      prompts.groupings.push_back(grouping(item));
    return prompts;
  }

  ScenarioExecution execution(const JsonView& view) const {
    view.only({"graph", "gemm", "packing"});
    ScenarioExecution execution;
    if (const auto graph = view.find("graph")) execution.graph = words<GraphMode>(*graph, kGraphWords);
    if (const auto packing = view.find("packing"))
      execution.packing = words<Packing>(*packing, kPackingWords);
    if (const auto gemm = view.find("gemm")) {
      // The default handle is not swept: its rows depend on the number of rows.
      execution.gemm.clear();
      for (const JsonView& item : gemm->distinct_items())
        execution.gemm.push_back(static_cast<GemmKind>(item.word(std::span(kGemmWords).subspan(1)) + 1));
    }
    return execution;
  }

  std::vector<Check> checks(const JsonView& view) const {
    std::vector<std::string_view> names;
    for (const CheckInfo& info : check_table()) names.push_back(info.name);
    std::vector<Check> checks;
    for (const JsonView& item : view.distinct_items()) checks.push_back(static_cast<Check>(item.word(names)));
    std::sort(checks.begin(), checks.end());
    return checks;
  }

  ScenarioReference reference(const JsonView& view) const {
    view.only({"file", "max_relative_l2"});
    ScenarioReference reference;
    reference.file = path(view.at("file"));
    if (const auto bounds = view.find("max_relative_l2")) {
      if (bounds->value().is_object()) {
        std::map<std::string, double> by_case;
        for (const std::string& name : bounds->keys()) by_case[name] = bound(bounds->at(name));
        if (by_case.empty()) bounds->refuse("a number, or an object from case to number that is not empty");
        reference.max_relative_l2 = std::move(by_case);
      } else {
        reference.max_relative_l2 = bound(*bounds);
      }
    }
    return reference;
  }

  ScenarioParity parity(const JsonView& view) const {
    view.only({"left", "right", "max_relative_l2"});
    ScenarioParity parity;
    if (const auto left = view.find("left")) parity.left = side(*left);
    if (const auto right = view.find("right")) parity.right = side(*right);
    if (const auto limit = view.find("max_relative_l2")) parity.max_relative_l2 = bound(*limit);
    return parity;
  }

  ScenarioBench bench(const JsonView& view) const {
    view.only({"single_tokens", "shared", "target_interval", "min_samples", "case_budget_s", "order_seed"});
    ScenarioBench bench;
    if (const auto single = view.find("single_tokens")) bench.single_tokens = lengths(*single, 1, true);
    if (const auto shared = view.find("shared")) {
      shared->only({"prefix_tokens", "branches", "branch_tokens"});
      bench.shared = BenchSharedGrid{lengths(shared->at("prefix_tokens"), 0, true),
                                     lengths(shared->at("branches"), 1, true),
                                     lengths(shared->at("branch_tokens"), 1, true)};
    }
    if (bench.single_tokens.empty() && !bench.shared)
      view.refuse("at least one of the keys \"single_tokens\" and \"shared\"");
    if (const auto target = view.find("target_interval")) bench.target_interval = target->number(1e-6, 1);
    if (const auto samples = view.find("min_samples")) bench.min_samples = samples->integer(1, 1000000);
    if (const auto budget = view.find("case_budget_s")) bench.case_budget_s = budget->number(0.001, 86400);
    if (const auto order = view.find("order_seed"))
      bench.order_seed = static_cast<std::uint64_t>(order->integer(0, INT64_MAX));
    return bench;
  }

 private:
  static double bound(const JsonView& view) { return view.number(0, 1e300); }

  static std::uint64_t seed(const JsonView& view) {
    const auto found = view.find("seed");
    return found ? static_cast<std::uint64_t>(found->integer(0, INT64_MAX)) : 1;
  }

  ScenarioPath path(const JsonView& view) const {
    const std::string written = view.label();
    return {written, (folder_ / written).lexically_normal()};
  }

  std::optional<ScenarioPath> optional_path(const JsonView& view, std::string_view key) const {
    const auto found = view.find(key);
    return found ? std::optional(path(*found)) : std::nullopt;
  }

  template <class Enum>
  static void word(const JsonView& view, std::string_view key, std::span<const std::string_view> words,
                   Enum& value) {
    if (const auto found = view.find(key)) value = static_cast<Enum>(found->word(words));
  }

  template <class Enum>
  static std::vector<Enum> words(const JsonView& view, std::span<const std::string_view> words) {
    std::vector<Enum> values;
    for (const JsonView& item : view.distinct_items()) values.push_back(static_cast<Enum>(item.word(words)));
    return values;
  }

  static std::vector<std::int64_t> lengths(const JsonView& view, std::int64_t min, bool distinct) {
    std::vector<std::int64_t> lengths;
    for (const JsonView& item : distinct ? view.distinct_items(kMaxListItems) : view.items(1, kMaxListItems))
      lengths.push_back(item.integer(min, kMaxLengthTokens));
    return lengths;
  }

  Grouping grouping(const JsonView& view) const {
    view.only({"name", "groups"});
    Grouping grouping{view.at("name").label(), {}};
    for (const JsonView& item : view.at("groups").items(1, kMaxListItems)) {
      item.only({"prefix_tokens", "branch_tokens"});
      Group group;
      if (const auto prefix = item.find("prefix_tokens"))
        group.prefix_tokens = prefix->integer(0, kMaxLengthTokens);
      group.branch_tokens = lengths(item.at("branch_tokens"), 1, false);
      grouping.groups.push_back(std::move(group));
    }
    return grouping;
  }

  ParitySide side(const JsonView& view) const {
    view.only({"entry", "gemm", "packing", "graph", "numerics", "kernels", "device"});
    ParitySide side;
    word(view, "entry", kEntryWords, side.entry);
    if (side.entry == Entry::forward_fixed || side.entry == Entry::forward_shared)
      side.gemm = GemmKind::fixed;
    word(view, "gemm", kGemmWords, side.gemm);
    word(view, "packing", kPackingWords, side.packing);
    word(view, "graph", kGraphWords, side.graph);
    if (view.find("numerics")) word(view, "numerics", kNumericsWords, side.numerics.emplace());
    side.kernels = optional_path(view, "kernels");
    if (const auto device = view.find("device")) side.device = device->label();
    return side;
  }

  const std::filesystem::path& folder_;
};

}  // namespace

Scenario scenario_from_json(const Json& document, const std::string& origin,
                            const std::filesystem::path& folder) {
  const JsonView root(document, origin);
  const Reader read(folder);
  static constexpr std::array<std::string_view, 1> kVersions = {kScenarioVersion};
  // First of all: a file of another version is best refused for that.
  root.at("schema_version").word(kVersions);
  root.only({"schema_version", "name", "description", "model", "prompts", "execution", "checks", "reference",
             "parity", "bench"});
  Scenario scenario;
  scenario.name = root.at("name").label();
  if (const auto description = root.find("description")) scenario.description = description->string();
  scenario.model = read.model(root.at("model"));
  if (const auto prompts = root.find("prompts")) scenario.prompts = read.prompts(*prompts);
  if (const auto execution = root.find("execution")) scenario.execution = read.execution(*execution);
  if (const auto checks = root.find("checks")) scenario.checks = read.checks(*checks);
  if (const auto reference = root.find("reference")) scenario.reference = read.reference(*reference);
  if (const auto parity = root.find("parity")) scenario.parity = read.parity(*parity);
  if (const auto bench = root.find("bench")) scenario.bench = read.bench(*bench);
  return scenario;
}

}  // namespace branchmark
