// A scenario: what a run is to do. The structs are the JSON; `load_scenario` is the only way from one to the
// other and refuses, with ErrorCode::usage, what they cannot mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "branchmark/device/gemm.hpp"
#include "branchmark/model/execution_plan.hpp"
#include "branchmark/scenario/checks.hpp"

namespace branchmark {

inline constexpr std::string_view kScenarioVersion = "1.0";

// A path as the scenario states it, and where that is: relative to the scenario's folder.
struct ScenarioPath {
  std::string written;
  std::filesystem::path resolved;
};

enum class Numerics { default_numerics, reference };
enum class GdnNumerics { default_gdn, fp32 };
enum class GraphMode { off, on };
enum class Entry { forward, forward_batch, forward_fixed, forward_shared };

// The words of scenarios, case keys and reports: "default", "reference", "off", "class", "per_branch", ...
std::string_view name_of(Numerics value);
std::string_view name_of(GdnNumerics value);
std::string_view name_of(GraphMode value);
std::string_view name_of(Entry value);

struct ScenarioModel {
  // Exactly one of the two is set.
  std::optional<std::string> preset;
  std::optional<ScenarioPath> checkpoint;
  std::uint64_t seed = 1;              // of what is made up: weights of a preset
  std::optional<std::int64_t> layers;  // the first so many only; absent: all
  std::optional<ScenarioPath> adapter;
  bool merge = false;  // of the adapter into the weights; else it stays beside them
  Numerics numerics = Numerics::default_numerics;
  GdnNumerics gdn = GdnNumerics::default_gdn;
};

// Lengths in tokens; no grouping is empty, no group is without branches, no branch is empty.
struct Group {
  std::int64_t prefix_tokens = 0;
  std::vector<std::int64_t> branch_tokens;
};

struct Grouping {
  std::string name;
  std::vector<Group> groups;
};

struct ScenarioPrompts {
  // Either every request prefix with every grouping, or the prompts of a file.
  std::vector<std::int64_t> request_prefix_tokens;
  std::vector<Grouping> groupings;
  std::optional<ScenarioPath> file;  // JSONL, one list of token ids a line
  std::uint64_t seed = 1;
};

// The sweep is the product of the lists; none is empty, none repeats a value.
struct ScenarioExecution {
  std::vector<GraphMode> graph = {GraphMode::off};
  std::vector<GemmKind> gemm = {GemmKind::fixed, GemmKind::fastest_of_class};
  std::vector<Packing> packing = {Packing::packed};
};

struct ScenarioReference {
  ScenarioPath file;
  // One bound for all cases of the file, or a bound by case.
  std::variant<std::monostate, double, std::map<std::string, double>> max_relative_l2;
};

struct ParitySide {
  Entry entry = Entry::forward;
  // forward always runs the default handle; forward_fixed and forward_shared never do.
  GemmKind gemm = GemmKind::default_choice;
  Packing packing = Packing::packed;    // of forward_shared
  GraphMode graph = GraphMode::off;     // of forward
  std::optional<Numerics> numerics;     // absent: the model's
  std::optional<ScenarioPath> kernels;  // absent: the run's; a bare name is a shipped module
  std::optional<std::string> device;    // as --device; absent: the run's
};

struct ScenarioParity {
  ParitySide left;
  std::optional<ParitySide> right;        // absent exactly where the scenario has a reference
  std::optional<double> max_relative_l2;  // absent: 0, equal bits, or the reference's own bounds
};

// measurement.md: prefixes x branches x branch lengths, every prompt of a case equally long.
struct BenchSharedGrid {
  std::vector<std::int64_t> prefix_tokens;
  std::vector<std::int64_t> branches;
  std::vector<std::int64_t> branch_tokens;
};

struct ScenarioBench {
  std::vector<std::int64_t> single_tokens;  // one pass of so many tokens, by forward and forward_fixed
  std::optional<BenchSharedGrid> shared;
  double target_interval = 0.01;  // half-width of the median's 95% interval, as a share of it
  std::int64_t min_samples = 10;
  double case_budget_s = 30.0;   // time after which a case is inconclusive
  std::uint64_t order_seed = 1;  // of the order of cases within a round
};

struct Scenario {
  std::string name;
  std::string description;
  ScenarioModel model;
  std::optional<ScenarioPrompts> prompts;
  ScenarioExecution execution;
  std::optional<std::vector<Check>> checks;  // absent: see selected_checks
  std::optional<ScenarioReference> reference;
  std::optional<ScenarioParity> parity;
  std::optional<ScenarioBench> bench;

  // The checks asked for, in schema order; by default all that the scenario has the inputs for. What the
  // device or the build cannot run is skipped later, with a reason.
  std::vector<Check> selected_checks() const;
  bool selects(Check check) const;

  // Canonical JSON with the defaults filled in and paths as written. Loading it gives the same scenario.
  std::string expanded() const;
  // sha256 of expanded().
  std::string digest() const;
};

// The bound of a case of the reference file: the reference's, else parity's. Empty where none is stated.
std::optional<double> reference_bound(const Scenario& scenario, const std::string& case_name);

}  // namespace branchmark
