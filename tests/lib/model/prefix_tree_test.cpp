#include "branchmark/model/prefix_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "branchmark/base/random.hpp"
#include "folder.hpp"

namespace branchmark {
namespace {

using test::expect_error;

constexpr PromptLimits kLimits = {.vocabulary = 100, .max_positions = 50};

Prompt text(Tokens tokens) {
  return {std::move(tokens), {}};
}

// Positions of a prompt whose rows all count from `first`.
PositionRows counted(std::size_t count, std::int32_t first) {
  std::vector<std::int32_t> row(count);
  std::iota(row.begin(), row.end(), first);
  return {{row, row, row}};
}

// The prompts of the flat list, found again at the places that `order` names.
void expect_same_prompts(const std::vector<Prompt>& prompts) {
  std::vector<std::int64_t> order;
  const auto tree = PrefixTree::from_prompts(prompts, &order);
  validate(tree, kLimits);
  const auto found = full_prompts(tree);
  ASSERT_EQ(found.size(), prompts.size());
  ASSERT_EQ(order.size(), prompts.size());
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(sorted[i], static_cast<std::int64_t>(i));
    const auto& asked = prompts[static_cast<std::size_t>(order[i])];
    EXPECT_EQ(found[i].prompt.tokens, asked.tokens) << found[i].path;
    EXPECT_EQ(found[i].prompt.positions.rows, asked.positions.rows) << found[i].path;
  }
}

std::int64_t num_tokens(const PrefixNode& node) {
  auto count = static_cast<std::int64_t>(node.tokens.size());
  for (const auto& child : node.children) count += num_tokens(child);
  return count;
}

TEST(PrefixTree, FromGroupsGivesPromptsInDepthFirstOrderWithPaths) {
  const auto tree = PrefixTree::from_groups({1, 2}, {{"", {3}, {{4}, {5, 6}}}, {"second", {}, {{7}}}});
  validate(tree, kLimits);
  const auto prompts = full_prompts(tree);
  ASSERT_EQ(prompts.size(), 3u);
  EXPECT_EQ(prompts[0].path, "request/group 0/branch 0");
  EXPECT_EQ(prompts[1].path, "request/group 0/branch 1");
  EXPECT_EQ(prompts[2].path, "request/second/branch 0");
  EXPECT_EQ(prompts[0].prompt.tokens, (Tokens{1, 2, 3, 4}));
  EXPECT_EQ(prompts[1].prompt.tokens, (Tokens{1, 2, 3, 5, 6}));
  EXPECT_EQ(prompts[2].prompt.tokens, (Tokens{1, 2, 7}));
}

TEST(PrefixTree, UnnamedNodesAreNamedByTheirPlace) {
  PrefixTree tree;
  tree.root.children.resize(2);
  for (auto& child : tree.root.children) {
    child.tokens = {1};
    child.ends_prompt = true;
  }
  const auto prompts = full_prompts(tree);
  EXPECT_EQ(prompts[0].path, "root/[0]");
  EXPECT_EQ(prompts[1].path, "root/[1]");
}

TEST(PrefixTree, AFlatListSharesEachCommonPrefixOnce) {
  const std::vector<Prompt> prompts = {text({1, 2, 3, 4}), text({9}), text({1, 2, 3, 5}), text({1, 2, 8})};
  expect_same_prompts(prompts);
  const auto tree = PrefixTree::from_prompts(prompts, nullptr);
  ASSERT_EQ(tree.root.children.size(), 2u);
  // 1 2 | 3 | 4, 5 and 8; and 9.
  EXPECT_EQ(num_tokens(tree.root), 2 + 1 + 1 + 1 + 1 + 1);
}

TEST(PrefixTree, EqualPromptsKeepABranchEach) {
  const std::vector<Prompt> prompts = {text({1, 2, 3}), text({1, 2, 3}), text({1, 2, 3})};
  expect_same_prompts(prompts);
  const auto tree = PrefixTree::from_prompts(prompts, nullptr);
  ASSERT_EQ(tree.root.children.size(), 1u);
  const auto& shared = tree.root.children[0];
  EXPECT_EQ(shared.tokens, (Tokens{1, 2}));
  ASSERT_EQ(shared.children.size(), 3u);
  for (const auto& branch : shared.children) EXPECT_EQ(branch.tokens, Tokens{3});
}

TEST(PrefixTree, APromptThatIsAPrefixOfAnotherEndsInANodeOfItsOwn) {
  const std::vector<Prompt> prompts = {text({1, 2, 3, 4, 5}), text({1, 2, 3}), text({1, 2})};
  expect_same_prompts(prompts);
  const auto tree = PrefixTree::from_prompts(prompts, nullptr);
  ASSERT_EQ(tree.root.children.size(), 1u);
  EXPECT_EQ(tree.root.children[0].tokens, Tokens{1});
}

TEST(PrefixTree, SingleTokensShareNothing) {
  expect_same_prompts({text({5})});
  const std::vector<Prompt> prompts = {text({5}), text({5}), text({5, 6})};
  expect_same_prompts(prompts);
  const auto tree = PrefixTree::from_prompts(prompts, nullptr);
  EXPECT_EQ(tree.root.children.size(), 3u);
}

TEST(PrefixTree, PromptsWithOtherPositionsShareOnlyWhereThoseAreEqual) {
  Prompt image = {{1, 2, 3, 4}, counted(4, 0)};
  Prompt moved = image;
  moved.positions.rows[1][2] = 7;  // the height of its third token
  const std::vector<Prompt> prompts = {image, moved, text({1, 2, 3, 5})};
  std::vector<std::int64_t> order;
  const auto tree = PrefixTree::from_prompts(prompts, &order);
  ASSERT_EQ(tree.root.children.size(), 1u);
  // Counted positions are those of plain text: two tokens are common to all three.
  EXPECT_EQ(tree.root.children[0].tokens, (Tokens{1, 2}));
  const auto found = full_prompts(tree);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& asked = prompts[static_cast<std::size_t>(order[i])];
    EXPECT_EQ(found[i].prompt.tokens, asked.tokens);
    EXPECT_TRUE(asked.positions.empty() || found[i].prompt.positions.rows == asked.positions.rows);
  }
}

TEST(PrefixTree, RandomListsComeBackWhole) {
  Random random(1, "lists");
  for (int round = 0; round < 200; ++round) {
    std::vector<Prompt> prompts(1 + random.below(9));
    // Three token values and short prompts: prefixes, equal prompts and single tokens all occur.
    for (auto& prompt : prompts) {
      prompt.tokens.resize(1 + random.below(8));
      for (auto& token : prompt.tokens) token = static_cast<std::int32_t>(random.below(3));
    }
    expect_same_prompts(prompts);
  }
}

TEST(PrefixTree, PositionsBecomeExplicitWithTheFirstNodeThatHasThem) {
  PrefixTree tree = PrefixTree::from_groups({1, 2}, {{"", {}, {{3, 4}, {5}}}});
  auto& image = tree.root.children[0].children[0];
  image.positions.rows = {{{2, 2}, {2, 3}, {2, 2}}};
  validate(tree, kLimits);
  const auto prompts = full_prompts(tree);
  EXPECT_EQ(prompts[0].prompt.positions.rows[1], (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(prompts[0].prompt.positions.rows[0], (std::vector<std::int32_t>{0, 1, 2, 2}));
  EXPECT_TRUE(prompts[1].prompt.positions.empty());
}

TEST(PrefixTree, SlicesKeepTheirPositions) {
  const Prompt prompt = {{1, 2, 3, 4}, counted(4, 5)};
  const auto part = slice(prompt, 1, 3);
  EXPECT_EQ(part.tokens, (Tokens{2, 3}));
  for (const auto& row : part.positions.rows) EXPECT_EQ(row, (std::vector<std::int32_t>{6, 7}));
  EXPECT_TRUE(slice(text({1, 2}), 0, 1).positions.empty());
}

// Each refusal names the node that is wrong.
void expect_refused(const PrefixTree& tree, const std::vector<std::string>& parts) {
  expect_error(ErrorCode::refused, parts, [&] { validate(tree, kLimits); });
}

PrefixTree valid_tree() {
  return PrefixTree::from_groups({1, 2}, {{"", {3}, {{4}, {5, 6}}}});
}

TEST(PrefixTreeRefusals, NameTheNode) {
  validate(valid_tree(), kLimits);
  expect_refused(PrefixTree::from_groups({1}, {}), {"request", "no prompts"});
  expect_refused(PrefixTree::from_groups({1}, {{"", {2}, {}}}), {"request/group 0:", "without branches"});
  expect_refused(PrefixTree::from_groups({1}, {{"", {2}, {{3}, {}}}}),
                 {"request/group 0/branch 1:", "empty branch"});
  expect_refused(PrefixTree::from_groups({1, 100}, {{"", {}, {{3}}}}), {"request:", "100", "index 1"});
  expect_refused(PrefixTree::from_groups({1}, {{"x", {}, {{3, -1}}}}), {"request/x/branch 0:", "-1"});
  expect_refused(PrefixTree::from_groups(Tokens(40, 1), {{"", Tokens(6, 1), {{3}, Tokens(5, 1)}}}),
                 {"request/group 0/branch 1:", "51", "50"});

  auto both = valid_tree();
  both.root.children[0].ends_prompt = true;
  expect_refused(both, {"request/group 0:", "ends a prompt"});
}

TEST(PrefixTreeRefusals, PositionRows) {
  auto short_rows = valid_tree();
  short_rows.root.children[0].children[1].positions = counted(1, 3);
  expect_refused(short_rows, {"request/group 0/branch 1:", "1 entries for 2 tokens"});
  auto one_row = valid_tree();
  one_row.root.positions.rows[2] = {0, 1};
  expect_refused(one_row, {"request:", "0 entries for 2 tokens"});
  auto beyond = valid_tree();
  beyond.root.children[0].positions = counted(1, 50);
  expect_refused(beyond, {"request/group 0:", "50"});
  auto negative = valid_tree();
  negative.root.children[0].positions = counted(1, -1);
  expect_refused(negative, {"request/group 0:", "-1"});
}

TEST(PrefixTreeRefusals, FlatListsAndPrompts) {
  const std::vector<Prompt> with_empty = {text({1}), text({})};
  expect_error(ErrorCode::refused, {"prompt 1", "empty"},
               [&] { static_cast<void>(PrefixTree::from_prompts(with_empty, nullptr)); });
  expect_refused(PrefixTree::from_prompts({}, nullptr), {"prompts:", "no prompts"});
  // Rows that are shorter than the tokens must not be read past their end while prefixes are looked for.
  const std::vector<Prompt> short_rows = {text({1, 2, 3}), {{1, 2, 4}, counted(1, 0)}};
  expect_error(ErrorCode::refused, {"prompt 1", "1 entries for 3 tokens"},
               [&] { static_cast<void>(PrefixTree::from_prompts(short_rows, nullptr)); });
  expect_error(ErrorCode::refused, {"here:", "empty"}, [] { validate(Prompt{}, kLimits, "here"); });
  expect_error(ErrorCode::refused, {"here:", "51 tokens"},
               [] { validate(text(Tokens(51, 1)), kLimits, "here"); });
  expect_error(ErrorCode::refused, {"here:", "index 2"}, [] {
    validate(text({1, 2, 100}), kLimits, "here");
  });
}

}  // namespace
}  // namespace branchmark
