#include "branchmark/model/execution_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "branchmark/base/random.hpp"
#include "folder.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::random_group;
using test::random_tokens;

// A captured state: where the path of its node ends, on the grid.
using Captured = std::multiset<std::pair<std::string, std::int64_t>>;

Captured captured_by(const ExecutionPlan& plan) {
  Captured found;
  for (const auto& run : plan.runs)
    if (run.captures) found.emplace(run.path, run.last);
  return found;
}

// K11's oracle: what must be captured and run, straight from the spec, one node after another.
struct Expected {
  Captured captured;
  std::int64_t tokens_asked = 0;
  std::int64_t tokens_run = 0;
};

void expect_node(const PrefixNode& node, const std::string& path, std::int64_t above,
                 std::int64_t captured_above, Expected& expected) {
  const auto end = above + static_cast<std::int64_t>(node.tokens.size());
  if (node.ends_prompt) {
    expected.tokens_asked += end;
    expected.tokens_run += end - captured_above;
    return;
  }
  const auto on_grid = end - end % 64;
  if (on_grid != captured_above) {
    expected.captured.emplace(path, on_grid);
    expected.tokens_run += on_grid - captured_above;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i)
    expect_node(node.children[i], path + "/[" + std::to_string(i) + "]", end, on_grid, expected);
}

PrefixNode random_node(Random& random, int depth) {
  PrefixNode node;
  node.ends_prompt = depth == 0 || random.below(3) == 0;
  node.tokens = Tokens(node.ends_prompt ? 1 + random.below(150) : random.below(200), 1);
  if (!node.ends_prompt)
    for (std::uint32_t i = 0, count = 1 + random.below(3); i < count; ++i)
      node.children.push_back(random_node(random, depth - 1));
  return node;
}

// Every run once, parents in earlier passes, states released once and never read afterwards.
void expect_sound(const ExecutionPlan& plan, const PlanOptions& options) {
  std::vector<std::int64_t> pass_of(plan.runs.size(), -1);
  std::vector<std::int64_t> released_in(plan.runs.size(), -1);
  for (std::size_t p = 0; p < plan.passes.size(); ++p) {
    ASSERT_FALSE(plan.passes[p].runs.empty());
    for (const auto run : plan.passes[p].runs) {
      ASSERT_EQ(pass_of[static_cast<std::size_t>(run)], -1) << "run twice";
      pass_of[static_cast<std::size_t>(run)] = static_cast<std::int64_t>(p);
    }
    for (const auto run : plan.passes[p].released) {
      ASSERT_EQ(released_in[static_cast<std::size_t>(run)], -1) << "released twice";
      released_in[static_cast<std::size_t>(run)] = static_cast<std::int64_t>(p);
    }
    EXPECT_TRUE(options.packing == Packing::packed || plan.passes[p].runs.size() == 1u);
  }
  std::set<std::int64_t> prompts;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const auto& run = plan.runs[i];
    ASSERT_GE(pass_of[i], 0) << "never run: " << run.path;
    EXPECT_EQ(run.tokens.tokens.size(), static_cast<std::size_t>(run.rows()));
    EXPECT_EQ(run.captures, released_in[i] >= 0) << run.path;
    EXPECT_EQ(run.captures, run.prompt < 0);
    EXPECT_TRUE(run.prompt < 0 || prompts.insert(run.prompt).second);
    EXPECT_EQ(run.first % 64, 0);
    EXPECT_TRUE(run.parent_run >= 0 || run.first == 0);
    // The whole chain is read: keys and values stay where they are.
    for (auto above = run.parent_run; above >= 0;
         above = plan.runs[static_cast<std::size_t>(above)].parent_run) {
      const auto index = static_cast<std::size_t>(above);
      EXPECT_LT(pass_of[index], pass_of[i]) << run.path << " before its parent";
      EXPECT_GE(released_in[index], pass_of[i]) << run.path << " after its parent's release";
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(prompts.size()), plan.num_prompts);
}

// The largest sum of states alive at once, followed pass by pass.
std::int64_t peak_of(const ExecutionPlan& plan, const StateCost& cost) {
  const auto bytes = [&](std::int64_t index) {
    const auto& run = plan.runs[static_cast<std::size_t>(index)];
    return run.captures ? cost.fixed_bytes + cost.bytes_per_row * run.rows() : 0;  // a step of one row
  };
  std::int64_t alive = 0, peak = 0;
  for (const auto& pass : plan.passes) {
    for (const auto run : pass.runs) alive += bytes(run);
    peak = std::max(peak, alive);
    for (const auto run : pass.released) alive -= bytes(run);
  }
  EXPECT_EQ(alive, 0);
  return peak;
}

constexpr StateCost kCost = {.fixed_bytes = 1000, .bytes_per_row = 3};

PlanOptions options_with(Packing packing, std::int64_t budget = 0, std::int64_t max_pass_rows = 16384) {
  return {.packing = packing, .max_pass_rows = max_pass_rows, .max_state_bytes = budget, .state_cost = kCost};
}

TEST(ExecutionPlan, K11RandomTreesCaptureExactlyWhatIsPlanned) {
  Random random(1, "trees");
  int with_states = 0;
  for (int round = 0; round < 300; ++round) {
    PrefixTree tree;
    tree.root = random_node(random, 4);
    tree.root.ends_prompt = tree.root.children.empty();
    if (tree.root.ends_prompt && tree.root.tokens.empty()) tree.root.tokens = {1};
    validate(tree, {2, 100000});
    Expected expected;
    expect_node(tree.root, "root", 0, 0, expected);
    for (const auto packing : {Packing::packed, Packing::per_branch}) {
      const auto options = options_with(packing);
      const auto plan = plan_execution(tree, options);
      EXPECT_EQ(captured_by(plan), expected.captured);
      EXPECT_EQ(plan.states_captured, static_cast<std::int64_t>(expected.captured.size()));
      EXPECT_EQ(plan.tokens_asked, expected.tokens_asked);
      EXPECT_EQ(plan.tokens_run, expected.tokens_run);
      EXPECT_EQ(plan.peak_state_bytes, peak_of(plan, kCost));
      expect_sound(plan, options);
    }
    with_states += expected.captured.empty() ? 0 : 1;
  }
  EXPECT_GT(with_states, 100);
}

TEST(ExecutionPlan, K11APlanThatSharesNothingSaysSo) {
  const auto tree = PrefixTree::from_groups(random_tokens("request", 40), {random_group("a", 23, {5, 70})});
  const auto plan = plan_execution(tree, options_with(Packing::packed));
  EXPECT_EQ(plan.states_captured, 0);
  EXPECT_EQ(plan.states_resumed, 0);
  EXPECT_EQ(plan.tokens_run, plan.tokens_asked);
  EXPECT_EQ(plan.num_levels, 1);
  EXPECT_EQ(plan.passes.size(), 1u);
  EXPECT_EQ(plan.peak_state_bytes, 0);
}

TEST(ExecutionPlan, SplitsAtMultiplesOf64CountedFromThePromptsStart) {
  // 70 tokens: 64 captured, 6 run again; with the group's 65 the prompt is at 135: 128 captured, 7 run again.
  const auto tree = PrefixTree::from_groups(random_tokens("request", 70),
                                            {random_group("a", 65, {1, 2}), random_group("b", 57, {9})});
  const auto plan = plan_execution(tree, options_with(Packing::packed));
  EXPECT_EQ(captured_by(plan), (Captured{{"request", 64}, {"request/a", 128}}));
  EXPECT_EQ(plan.tokens_asked, 136 + 137 + 136);
  EXPECT_EQ(plan.tokens_run, 64 + 64 + (7 + 1) + (7 + 2) + (63 + 9));
  EXPECT_EQ(plan.states_resumed, 4);
}

TEST(ExecutionPlan, LevelsCountCapturedStatesAboveARun) {
  // Group a adds a state, group b none: its node costs no run and its branch lies one level higher.
  const auto tree = PrefixTree::from_groups(random_tokens("request", 64),
                                            {random_group("a", 64, {5, 6}), random_group("b", 10, {7})});
  const auto plan = plan_execution(tree, options_with(Packing::packed));
  std::map<std::string, std::int64_t> level;
  for (const auto& run : plan.runs) level[run.path] = run.level;
  EXPECT_EQ(level, (std::map<std::string, std::int64_t>{{"request", 0},
                                                        {"request/a", 1},
                                                        {"request/b/branch 0", 1},
                                                        {"request/a/branch 0", 2},
                                                        {"request/a/branch 1", 2}}));
  EXPECT_EQ(plan.num_levels, 3);
  EXPECT_EQ(plan.passes.size(), 3u);
  EXPECT_EQ(plan.row_counts(), (std::vector<std::int64_t>{11, 64, 64 + 17}));
  EXPECT_EQ(plan.max_rows, 81);
  EXPECT_EQ(plan_execution(tree, options_with(Packing::per_branch)).passes.size(), 5u);
}

TEST(ExecutionPlan, ALevelIsCutIntoPassesOfAtMostSoManyRows) {
  const auto tree = PrefixTree::from_groups({}, {random_group("a", 64, {30, 40, 50, 200, 10})});
  const auto options = options_with(Packing::packed, 0, 100);
  const auto plan = plan_execution(tree, options);
  std::vector<std::int64_t> rows;
  for (const auto& pass : plan.passes) {
    std::int64_t sum = 0;
    for (const auto run : pass.runs) sum += plan.runs[static_cast<std::size_t>(run)].rows();
    rows.push_back(sum);
  }
  // A run that is longer by itself stands alone.
  EXPECT_EQ(rows, (std::vector<std::int64_t>{64, 70, 50, 200, 10}));
  expect_sound(plan, options);
  EXPECT_EQ(plan.num_levels, 2);
}

TEST(ExecutionPlan, UnderABudgetSubtreesAreFinishedOneAfterAnother) {
  std::vector<PromptGroup> groups;
  for (int g = 0; g < 6; ++g) groups.push_back(random_group(fmt::format("g{}", g), 64, {3, 5}));
  const auto tree = PrefixTree::from_groups(random_tokens("request", 64), groups);
  const auto state = kCost.fixed_bytes + 64 * kCost.bytes_per_row;
  const auto free = plan_execution(tree, options_with(Packing::packed));
  EXPECT_EQ(free.peak_state_bytes, 7 * state);
  EXPECT_EQ(free.passes.size(), 3u);

  const auto enough = plan_execution(tree, options_with(Packing::packed, 7 * state));
  EXPECT_EQ(enough.passes.size(), 3u) << "a budget that suffices changes nothing";

  const auto options = options_with(Packing::packed, 2 * state);
  const auto tight = plan_execution(tree, options);
  EXPECT_EQ(tight.peak_state_bytes, 2 * state);
  EXPECT_EQ(tight.peak_state_bytes, peak_of(tight, kCost));
  EXPECT_EQ(tight.passes.size(), 1u + 6 * 2);
  EXPECT_EQ(captured_by(tight), captured_by(free));
  EXPECT_EQ(tight.tokens_run, free.tokens_run);
  expect_sound(tight, options);
  // The first subtree's branches come before the second subtree's prefix.
  EXPECT_EQ(tight.runs[static_cast<std::size_t>(tight.passes[2].runs[0])].path, "request/g0/branch 0");
  EXPECT_EQ(tight.runs[static_cast<std::size_t>(tight.passes[3].runs[0])].path, "request/g1");

  test::expect_error(
      ErrorCode::not_eligible, {std::to_string(2 * state), std::to_string(2 * state - 1)},
      [&] { static_cast<void>(plan_execution(tree, options_with(Packing::packed, 2 * state - 1))); });
}

TEST(ExecutionPlan, AStatesRowsCountInTheStepThatTheyAreHeldIn) {
  const StateCost cost = {.fixed_bytes = 1000, .bytes_per_row = 3, .row_step = 256};
  EXPECT_EQ(cost.bytes(64), 1000 + 3 * 256);
  EXPECT_EQ(cost.bytes(256), 1000 + 3 * 256);
  EXPECT_EQ(cost.bytes(320), 1000 + 3 * 512);
  auto options = options_with(Packing::packed);
  options.state_cost = cost;
  const auto tree = PrefixTree::from_groups(random_tokens("request", 64), {random_group("a", 320, {1})});
  EXPECT_EQ(plan_execution(tree, options).peak_state_bytes, cost.bytes(64) + cost.bytes(320));
}

TEST(ExecutionPlan, RandomTreesStayUnderTheirBudgetOrAreRefused) {
  Random random(1, "budgets");
  int ordered = 0, refused = 0;
  for (int round = 0; round < 200; ++round) {
    PrefixTree tree;
    tree.root = random_node(random, 4);
    if (tree.root.ends_prompt) continue;
    const auto free = plan_execution(tree, options_with(Packing::packed));
    if (free.peak_state_bytes == 0) continue;
    const auto options = options_with(Packing::packed, free.peak_state_bytes * (1 + random.below(9)) / 10);
    try {
      const auto plan = plan_execution(tree, options);
      EXPECT_LE(peak_of(plan, kCost), options.max_state_bytes);
      EXPECT_EQ(plan.peak_state_bytes, peak_of(plan, kCost));
      EXPECT_EQ(captured_by(plan), captured_by(free));
      expect_sound(plan, options);
      ++ordered;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::not_eligible);
      ++refused;
    }
  }
  EXPECT_GT(ordered, 20);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace branchmark
