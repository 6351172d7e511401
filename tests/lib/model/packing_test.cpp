// Rows of several sequences in one pass: each has the bits of its solo run, whatever stands beside it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "folder.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::digests;
using test::fixed_digests;
using test::mixed_tree;
using test::random_group;
using test::random_prompt;
using test::random_tokens;
using test::small_model;

std::vector<Prompt> prompts_of(const std::vector<std::int64_t>& lengths) {
  std::vector<Prompt> prompts;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    prompts.push_back(random_prompt("prompt " + std::to_string(i), lengths[i]));
  return prompts;
}

// K05: chunk grids are per sequence, so a first length off the grid moves nobody else's.
TEST(Packing, K05SequencesAfterOneOffTheGridEqualTheirSoloRuns) {
  const auto model = small_model();
  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>{1, 64, 130}, {63, 65, 64}, {65, 1, 128, 7}, {100, 200}}) {
    const auto prompts = prompts_of(lengths);
    for (const auto gemm : {GemmKind::fixed, GemmKind::fastest_of_class}) {
      const auto batch = model->forward_batch(prompts, gemm, {.all_rows = true, .observer = nullptr});
      ASSERT_EQ(batch.size(), prompts.size());
      for (std::size_t i = 0; i < prompts.size(); ++i) {
        const auto alone = model->forward_fixed(prompts[i], gemm, {.all_rows = true, .observer = nullptr});
        EXPECT_EQ(batch[i].num_rows(), lengths[i]);
        EXPECT_EQ(batch[i].digest(), alone.digest()) << lengths[0] << ", prompt " << i;
      }
    }
  }
}

// K05: states captured by one pass of several prefixes, of lengths off the grid, are continued correctly.
TEST(Packing, K05PrefixesPackedTogetherLeaveTheStatesOfTheirSoloRuns) {
  const auto model = small_model();
  const auto tree =
      PrefixTree::from_groups({}, {random_group("a", 65, {1, 70}), random_group("b", 127, {2}),
                                   random_group("c", 100, {64}), random_group("d", 192, {5, 63})});
  const auto plan = model->plan(tree, {});
  ASSERT_EQ(plan.passes.size(), 2u);
  ASSERT_EQ(plan.passes[0].runs.size(), 4u) << "all four prefixes run in one pass";
  EXPECT_EQ(digests(model->forward_shared(tree)), fixed_digests(*model, tree));
}

// K07
TEST(Packing, K07BranchesShorterThanTheConvolutionEqualTheirSoloRuns) {
  const auto model = small_model();
  for (const std::int64_t prefix : {0, 1, 63, 64, 65, 130}) {
    const auto tree = PrefixTree::from_groups(random_tokens("request", prefix),
                                              {random_group("short", 0, {1, 2, 3, 4, 1, 4, 3, 2, 1})});
    for (const auto packing : {Packing::packed, Packing::per_branch})
      EXPECT_EQ(digests(model->forward_shared(tree, {.packing = packing})), fixed_digests(*model, tree))
          << prefix;
  }
}

TEST(Packing, EveryExecutionOfATreeHasTheBitsOfTheFixedPass) {
  const auto model = small_model();
  const auto tree = mixed_tree();
  const auto expected = fixed_digests(*model, tree);
  EXPECT_EQ(fixed_digests(*model, tree, GemmKind::fastest_of_class), expected);
  for (const auto gemm : {GemmKind::fixed, GemmKind::fastest_of_class})
    for (const auto packing : {Packing::packed, Packing::per_branch})
      EXPECT_EQ(digests(model->forward_shared(tree, {.gemm = gemm, .packing = packing})), expected)
          << name_of(gemm) << ", " << name_of(packing);
}

TEST(Packing, K12EveryNumberOfBranchesGivesAPromptOneDigest) {
  const auto model = small_model();
  const auto tree_of = [](std::size_t branches) {
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < branches; ++i) lengths.push_back(std::array{38, 1, 5, 64}[i % 4]);
    return PrefixTree::from_groups(random_tokens("request", 70), {random_group("branches", 5, lengths)});
  };
  const auto expected = fixed_digests(*model, tree_of(64));
  for (const std::size_t branches : {1, 2, 3, 8, 17, 32, 62, 64})
    for (const auto packing : {Packing::packed, Packing::per_branch})
      for (const auto gemm : {GemmKind::fixed, GemmKind::fastest_of_class}) {
        const auto found =
            digests(model->forward_shared(tree_of(branches), {.gemm = gemm, .packing = packing}));
        ASSERT_EQ(found.size(), branches);
        EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin())) << branches << " branches";
      }
}

// K11: what the plan says is what the model does.
TEST(Packing, K11StatisticsAreThoseOfThePlan) {
  const auto model = small_model();
  const auto tree = mixed_tree();
  for (const auto packing : {Packing::packed, Packing::per_branch}) {
    const SharedOptions options{.packing = packing};
    const auto plan = model->plan(tree, options);
    const auto before = model->statistics();
    static_cast<void>(model->forward_shared(tree, options));
    const auto after = model->statistics();
    EXPECT_EQ(after.passes - before.passes, static_cast<std::int64_t>(plan.passes.size()));
    EXPECT_EQ(after.tokens_run - before.tokens_run, plan.tokens_run);
    EXPECT_EQ(after.states_captured - before.states_captured, plan.states_captured);
    EXPECT_EQ(after.states_resumed - before.states_resumed, plan.states_resumed);
    EXPECT_EQ(plan.states_captured, 3);  // the request, c and d
    EXPECT_LT(plan.tokens_run, plan.tokens_asked);
  }
}

TEST(Packing, APlanTouchesNoDevice) {
  const auto model = small_model();
  const auto before = model->context().counters().calls;
  EXPECT_GT(model->plan(mixed_tree(), {}).tokens_run, 0);
  EXPECT_EQ(model->context().counters().calls, before);
}

PrefixTree tree_of_subtrees() {
  return PrefixTree::from_groups(
      random_tokens("request", 64),
      {random_group("a", 64, {3, 5}), random_group("b", 320, {7}), random_group("c", 64, {1, 2}),
       random_group("d", 0, {9}), random_group("e", 600, {4})});
}

TEST(Packing, AMemoryBudgetChangesNoBit) {
  const auto model = small_model();
  const auto tree = tree_of_subtrees();
  const auto free = model->plan(tree, {});
  const auto cost = model->state_cost();
  const SharedOptions options{.max_state_bytes = cost.bytes(64) + cost.bytes(600)};
  ASSERT_LT(options.max_state_bytes, free.peak_state_bytes);
  const auto plan = model->plan(tree, options);
  EXPECT_LE(plan.peak_state_bytes, options.max_state_bytes);
  EXPECT_GT(plan.passes.size(), free.passes.size());
  EXPECT_EQ(digests(model->forward_shared(tree, options)), fixed_digests(*model, tree));

  test::expect_error(
      ErrorCode::not_eligible,
      {std::to_string(plan.peak_state_bytes), std::to_string(options.max_state_bytes - 1)}, [&] {
        static_cast<void>(model->forward_shared(tree, {.max_state_bytes = options.max_state_bytes - 1}));
      });
}

// What the device holds for states stays under the budget, also after a call that had none.
TEST(Packing, AMemoryBudgetBoundsWhatIsAllocated) {
  const auto model = small_model();
  const auto tree = tree_of_subtrees();
  auto& counters = model->context().counters();
  static_cast<void>(model->forward_fixed(random_prompt("scratch", 1000)));
  static_cast<void>(model->forward_shared(tree, {.packing = Packing::per_branch}));  // inputs have their room
  const auto pooled = model->plan(tree, {}).peak_state_bytes;
  const auto without_states = counters.live_bytes - pooled;
  const auto cost = model->state_cost();
  const auto budget = cost.bytes(64) + cost.bytes(600);
  for (int repeat = 0; repeat < 2; ++repeat) {
    static_cast<void>(model->forward_shared(tree, {.max_state_bytes = budget}));
    EXPECT_LE(counters.live_bytes, without_states + budget);
    counters.peak_bytes = counters.live_bytes;
  }
  static_cast<void>(model->forward_shared(tree, {.max_state_bytes = budget}));
  EXPECT_LE(counters.peak_bytes, without_states + budget);
  EXPECT_GT(counters.peak_bytes, without_states);
}

TEST(Packing, ResultsComeInTheOrderOfTheRequest) {
  const auto model = small_model();
  auto prompts = prompts_of({70, 3, 140, 70, 64});
  for (std::size_t i = 2; i < prompts.size(); ++i)
    std::copy_n(prompts[0].tokens.begin(), 64, prompts[i].tokens.begin());
  std::vector<std::int64_t> order;
  const auto tree = PrefixTree::from_prompts(prompts, &order);
  ASSERT_FALSE(std::is_sorted(order.begin(), order.end()));
  const auto rows = model->forward_shared(tree);
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(rows[i].digest(), model->forward_fixed(prompts[static_cast<std::size_t>(order[i])]).digest());
}

TEST(Packing, ATreeOfAnyDepth) {
  const auto model = small_model();
  PrefixTree tree;
  auto* node = &tree.root;
  for (int depth = 0; depth < 7; ++depth) {
    node->tokens = random_tokens("level " + std::to_string(depth), depth % 2 == 0 ? 50 : 30);
    node->children.resize(2);
    node->children[1].tokens = random_tokens("branch " + std::to_string(depth), 1 + depth);
    node->children[1].ends_prompt = true;
    node = &node->children[0];
  }
  node->tokens = {1, 2, 3};
  node->ends_prompt = true;
  EXPECT_GE(model->plan(tree, {}).num_levels, 5);
  EXPECT_EQ(digests(model->forward_shared(tree)), fixed_digests(*model, tree));
}

// Positions of an image: not in step with the tokens, shared by the prefix or only in a branch.
TEST(Packing, PositionRowsOfPrefixAndBranchGiveTheBitsOfTheFixedPass) {
  const auto model = small_model();
  auto tree = PrefixTree::from_groups(random_tokens("request", 90),
                                      {random_group("a", 50, {4, 66}), random_group("b", 0, {30})});
  const auto grid = [](PrefixNode& node, std::int32_t first) {
    for (std::size_t i = 0; i < node.tokens.size(); ++i) {
      const auto step = static_cast<std::int32_t>(i);
      node.positions.rows[0].push_back(first);
      node.positions.rows[1].push_back(first + step / 7);
      node.positions.rows[2].push_back(first + step % 7);
    }
  };
  const auto plain = digests(model->forward_shared(tree));
  grid(tree.root.children[0].children[1], 500);  // far beyond the count of tokens
  EXPECT_EQ(digests(model->forward_shared(tree)), fixed_digests(*model, tree));
  grid(tree.root, 3);
  const auto rows = digests(model->forward_shared(tree));
  EXPECT_EQ(rows, fixed_digests(*model, tree));
  EXPECT_EQ(digests(model->forward_shared(tree, {.packing = Packing::per_branch})), rows);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NE(rows[i], plain[i]) << "positions must matter";
}

}  // namespace
}  // namespace branchmark
