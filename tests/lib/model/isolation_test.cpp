// What one branch, an earlier call or another model must not change.

#include <gtest/gtest.h>

#include <thread>

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
using test::small_config;
using test::small_model;

// The leaves of a tree, in the order of its prompts.
void leaves_of(PrefixNode& node, std::vector<PrefixNode*>& leaves) {
  if (node.ends_prompt) leaves.push_back(&node);
  for (auto& child : node.children) leaves_of(child, leaves);
}

TEST(Isolation, K06ChangingOneBranchChangesNoOther) {
  const auto model = small_model();
  const auto tree = mixed_tree();
  for (const auto packing : {Packing::packed, Packing::per_branch}) {
    const auto before = digests(model->forward_shared(tree, {.packing = packing}));
    for (std::size_t changed = 0; changed < before.size(); ++changed) {
      auto other = tree;
      std::vector<PrefixNode*> leaves;
      leaves_of(other.root, leaves);
      for (auto& token : leaves[changed]->tokens) token = (token + 1) % 200;
      const auto after = digests(model->forward_shared(other, {.packing = packing}));
      for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_EQ(after[i] == before[i], i != changed) << i << " when " << changed << " changed";
    }
  }
}

TEST(Isolation, K06AChangedPrefixChangesItsBranchesAndNoOthers) {
  const auto model = small_model();
  const auto tree = mixed_tree();
  const auto before = digests(model->forward_shared(tree));
  auto other = tree;
  other.root.children[2].tokens[0] = (other.root.children[2].tokens[0] + 1) % 200;
  const auto after = digests(model->forward_shared(other));
  // a has three branches, b one, c three, d one.
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i] == before[i], i < 4 || i > 6) << i;
}

// K08: scratch, workspace and pooled states hold NaN before each call.
TEST(Isolation, K08PoisonedMemoryReachesNoResult) {
  const auto model = small_model();
  const auto tree = mixed_tree();
  const auto prompt = random_prompt("poison", 150);
  const auto shared = digests(model->forward_shared(tree));
  const auto fixed = model->forward_fixed(prompt).digest();
  const auto single = model->forward(prompt).digest();
  for (const auto packing : {Packing::packed, Packing::per_branch}) {
    model->poison_scratch();
    EXPECT_EQ(digests(model->forward_shared(tree, {.packing = packing})), shared);
  }
  model->poison_scratch();
  EXPECT_EQ(model->forward_fixed(prompt).digest(), fixed);
  model->poison_scratch();
  EXPECT_EQ(model->forward(prompt).digest(), single);
  model->poison_scratch();
  const std::vector<Prompt> prompts = {random_prompt("other", 3), prompt};
  EXPECT_EQ(model->forward_batch(prompts, GemmKind::fixed)[1].digest(), fixed);
}

TEST(Isolation, OrderRepetitionAndOtherCallsChangeNothing) {
  const auto model = small_model();
  auto tree = mixed_tree();
  const auto expected = fixed_digests(*model, tree);
  const auto prompt = random_prompt("between", 77);
  const auto single = model->forward(prompt).digest();
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(digests(model->forward_shared(tree)), expected);
    EXPECT_EQ(model->forward(prompt).digest(), single);
  }
  std::reverse(tree.root.children.begin(), tree.root.children.end());
  for (auto& group : tree.root.children) std::reverse(group.children.begin(), group.children.end());
  auto reversed = digests(model->forward_shared(tree));
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(reversed, expected);
}

// Scratch grows in steps of 1,024 rows, each growth is counted, and none changes a bit.
TEST(Isolation, ScratchGrowthIsCountedAndChangesNoBit) {
  const auto model = small_model();
  const auto tree = mixed_tree();
  EXPECT_EQ(model->statistics().scratch_growths, 0);
  const auto before = digests(model->forward_shared(tree));
  EXPECT_EQ(model->statistics().scratch_growths, 1);
  static_cast<void>(model->forward_fixed(random_prompt("as long", 1024)));
  EXPECT_EQ(model->statistics().scratch_growths, 1);
  static_cast<void>(model->forward_fixed(random_prompt("longer", 1025)));
  EXPECT_EQ(model->statistics().scratch_growths, 2);
  EXPECT_EQ(digests(model->forward_shared(tree)), before);
  EXPECT_EQ(model->statistics().scratch_growths, 2) << "it never shrinks";
}

TEST(Isolation, StatesArePooledAcrossCalls) {
  const auto model = small_model();
  const auto tree = mixed_tree();
  static_cast<void>(model->forward_shared(tree));
  const auto allocations = model->statistics().state_allocations;
  const auto bytes = model->context().counters().live_bytes;
  EXPECT_GT(allocations, 0);
  for (int repeat = 0; repeat < 3; ++repeat) static_cast<void>(model->forward_shared(tree));
  EXPECT_EQ(model->statistics().state_allocations, allocations);
  EXPECT_EQ(model->context().counters().live_bytes, bytes);
  // A longer prefix grows one; a shorter one fits.
  static_cast<void>(model->forward_shared(
      PrefixTree::from_groups(random_tokens("long", 320), {random_group("a", 0, {1})})));
  EXPECT_EQ(model->statistics().state_allocations, allocations + 1);
}

TEST(Isolation, EverythingIsGivenBack) {
  const auto context = test::open_module(BRANCHMARK_CPU_MODULE);
  {
    const auto model = test::make_model(context, small_config());
    static_cast<void>(model->forward_shared(mixed_tree()));
    static_cast<void>(model->forward(random_prompt("one", 9)));
    EXPECT_GT(context->counters().live_buffers, 0);
  }
  EXPECT_EQ(context->counters().live_buffers, 0);
  EXPECT_EQ(context->counters().live_bytes, 0);
}

// K32, as far as the CPU shows it: two models of different weights on two contexts in two threads.
TEST(Isolation, K32TwoModelsInTwoThreadsEqualTheirSoloRuns) {
  const auto tree = mixed_tree();
  const auto run = [&](std::uint64_t seed) {
    const auto model = test::make_model(test::open_module(BRANCHMARK_CPU_MODULE), small_config(), {}, seed);
    std::vector<std::vector<std::string>> found;
    for (int repeat = 0; repeat < 4; ++repeat) {
      found.push_back(digests(model->forward_shared(tree)));
      found.push_back({model->forward(random_prompt("single", 100)).digest()});
    }
    return found;
  };
  const auto first_alone = run(1);
  const auto second_alone = run(2);
  EXPECT_NE(first_alone, second_alone);
  std::vector<std::vector<std::string>> first, second;
  {
    std::jthread one([&] { first = run(1); });
    std::jthread other([&] { second = run(2); });
  }
  EXPECT_EQ(first, first_alone);
  EXPECT_EQ(second, second_alone);
}

TEST(Isolation, ThreadCountsChangeNoBit) {
  const auto tree = mixed_tree();
  const auto run = [&](std::int64_t threads) {
    const auto model = test::make_model(test::open_module(BRANCHMARK_CPU_MODULE, threads), small_config());
    auto found = digests(model->forward_shared(tree));
    found.push_back(model->forward(random_prompt("single", 100)).digest());
    return found;
  };
  const auto one = run(1);
  EXPECT_EQ(run(2), one);
  EXPECT_EQ(run(5), one);
}

}  // namespace
}  // namespace branchmark
