#include "branchmark/scenario/load.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMinimal =
    R"({"schema_version": "1.0", "name": "minimal", "model": {"preset": "qwen3.5-smoke"}})";
constexpr std::string_view kGrid =
    R"({"schema_version": "1.0", "name": "grid", "model": {"preset": "qwen3.5-smoke"},
  "prompts": {"request_prefix_tokens": [0, 64], "groupings": [{"name": "g", "groups": [{"branch_tokens": [1, 2]}]}]}})";

Scenario parse(std::string_view text, const ScenarioOverrides& overrides = {}) {
  return parse_scenario(text, "test", "folder", overrides);
}

Scenario parse_with(std::string_view text, std::vector<std::string> set) {
  ScenarioOverrides overrides;
  overrides.set = std::move(set);
  return parse(text, overrides);
}

template <class Read>
std::string refusal(Read read, ErrorCode code = ErrorCode::usage) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

TEST(ScenarioLoad, FillsDefaults) {
  const Scenario scenario = parse(kMinimal);
  EXPECT_EQ(scenario.model.numerics, Numerics::default_numerics);
  EXPECT_EQ(scenario.model.gdn, GdnNumerics::default_gdn);
  EXPECT_EQ(scenario.model.seed, 1u);
  EXPECT_FALSE(scenario.model.layers);
  EXPECT_EQ(scenario.execution.graph, std::vector{GraphMode::off});
  EXPECT_EQ(scenario.execution.gemm, (std::vector{GemmKind::fixed, GemmKind::fastest_of_class}));
  EXPECT_EQ(scenario.execution.packing, std::vector{Packing::packed});
  EXPECT_FALSE(scenario.prompts);
  EXPECT_FALSE(scenario.checks);
}

TEST(ScenarioLoad, DefaultChecksAreThoseWithInputs) {
  EXPECT_EQ(parse(kMinimal).selected_checks(),
            (std::vector{Check::operators, Check::gemm_rows, Check::refusals, Check::profiles}));
  const Scenario grid = parse(kGrid);
  EXPECT_TRUE(grid.selects(Check::shared_equals_fixed));
  EXPECT_TRUE(grid.selects(Check::forward_distance));
  EXPECT_FALSE(grid.selects(Check::reference));
}

TEST(ScenarioLoad, ChecksRunInSchemaOrder) {
  const Scenario scenario = parse_with(kGrid, {R"(checks=["repeated","operators"])"});
  EXPECT_EQ(scenario.selected_checks(), (std::vector{Check::operators, Check::repeated}));
}

TEST(ScenarioLoad, NamesPointerFoundAndWanted) {
  EXPECT_EQ(
      refusal([] { parse_with(kGrid, {"prompts.groupings.0.groups.0.branch_tokens.1=0"}); }),
      "test: at /prompts/groupings/0/groups/0/branch_tokens/1: found 0, expected a whole number from 1 to "
      "1048576");
  EXPECT_EQ(refusal([] { parse_with(kMinimal, {"execution.graph=[\"auto\"]"}); }),
            "test: at /execution/graph/0: found \"auto\", expected one of \"off\", \"on\"");
  EXPECT_NE(refusal([] { parse_with(kMinimal, {"model.preset=qwen4"}); }).find("qwen3.5-smoke"),
            std::string::npos);
}

TEST(ScenarioLoad, PathsAreRelativeToTheFolder) {
  const Scenario scenario =
      parse(R"({"schema_version": "1.0", "name": "a", "model": {"checkpoint": "../tiny"},
      "reference": {"file": "/abs/expected.safetensors", "max_relative_l2": {"a": 0.5}},
      "parity": {"max_relative_l2": 0.25}})");
  EXPECT_EQ(scenario.model.checkpoint->written, "../tiny");
  EXPECT_EQ(scenario.model.checkpoint->resolved, fs::path("tiny"));
  EXPECT_EQ(scenario.reference->file.resolved, fs::path("/abs/expected.safetensors"));
  EXPECT_EQ(reference_bound(scenario, "a"), 0.5);
  EXPECT_EQ(reference_bound(scenario, "b"), 0.25);
}

TEST(ScenarioLoad, ParitySidesTakeTheHandleOfTheirEntry) {
  const Scenario scenario = parse_with(
      kGrid, {R"(parity={"left": {"entry": "forward_shared"}, "right": {"entry": "forward_batch"}})"});
  EXPECT_EQ(scenario.parity->left.gemm, GemmKind::fixed);
  EXPECT_EQ(scenario.parity->right->gemm, GemmKind::default_choice);
  EXPECT_FALSE(scenario.parity->max_relative_l2);
}

TEST(ScenarioOverrides, SetReplacesAppendsAndCreates) {
  const Scenario scenario = parse_with(
      kGrid, {"model.layers=2", "prompts.request_prefix_tokens.1=65", "prompts.request_prefix_tokens.2=7",
              "execution.packing=[\"per_branch\"]", "name=renamed", "description=\"quoted\""});
  EXPECT_EQ(scenario.model.layers, 2);
  EXPECT_EQ(scenario.prompts->request_prefix_tokens, (std::vector<std::int64_t>{0, 65, 7}));
  EXPECT_EQ(scenario.execution.packing, std::vector{Packing::per_branch});
  EXPECT_EQ(scenario.name, "renamed");
  EXPECT_EQ(scenario.description, "quoted");
}

TEST(ScenarioOverrides, SetRefusesWhatHasNoPlace) {
  for (const char* setting : {"", "=1", "name", "model..layers=1", ".name=x", "name.", "name.a=1",
                              "prompts.request_prefix_tokens.9=1", "prompts.request_prefix_tokens.x=1",
                              "model={\"preset\":\"a\",\"preset\":\"b\"}"})
    EXPECT_NE(refusal([&] { parse_with(kGrid, {setting}); }), "") << setting;
}

TEST(ScenarioOverrides, NamedOnesReplaceTheModelAndSeeds) {
  ScenarioOverrides overrides;
  overrides.seed = 9;
  overrides.checkpoint = "some/checkpoint";
  const Scenario scenario = parse(kGrid, overrides);
  EXPECT_FALSE(scenario.model.preset);
  // On the command line a path is the caller's, not the scenario's.
  EXPECT_EQ(scenario.model.checkpoint->resolved, fs::path("some/checkpoint"));
  EXPECT_EQ(scenario.model.seed, 9u);
  EXPECT_EQ(scenario.prompts->seed, 9u);
  ScenarioOverrides back;
  back.preset = "qwen3.5-4b";
  EXPECT_EQ(
      parse(R"({"schema_version": "1.0", "name": "a", "model": {"checkpoint": "x"}})", back).model.preset,
      "qwen3.5-4b");
}

TEST(ScenarioExpanded, IsCanonicalAndReadsBack) {
  const Scenario scenario = parse(kGrid);
  const Scenario again = parse(scenario.expanded());
  EXPECT_EQ(again.expanded(), scenario.expanded());
  EXPECT_EQ(again.digest(), scenario.digest());
  EXPECT_EQ(scenario.digest().size(), 64u);
  EXPECT_EQ(parse_with(kGrid, {"model.seed=1"}).digest(), scenario.digest());
  EXPECT_NE(parse_with(kGrid, {"model.seed=2"}).digest(), scenario.digest());
}

TEST(ScenarioShipped, AreTheFilesOfConfigs) {
  const fs::path configs = fs::path(BRANCHMARK_SOURCE_DIR) / "configs";
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(configs)) files += entry.path().extension() == ".json";
  EXPECT_EQ(shipped_scenarios().size(), files);
  for (const ShippedScenario& shipped : shipped_scenarios()) {
    const fs::path file = configs / (std::string(shipped.name) + ".json");
    EXPECT_EQ(shipped.text, read_file(file));
    const Scenario scenario = load_scenario(std::string(shipped.name));
    EXPECT_EQ(scenario.name, shipped.name);
    EXPECT_EQ(scenario.digest(), load_scenario(file.string()).digest());
  }
}

TEST(ScenarioShipped, UnknownNamesAndMissingFiles) {
  EXPECT_NE(refusal([] { load_scenario("no-such-scenario"); }).find("smoke"), std::string::npos);
  refusal([] { load_scenario("no/such/scenario.json"); }, ErrorCode::io);
}

}  // namespace
}  // namespace branchmark
