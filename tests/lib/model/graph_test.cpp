// Recording and replay of `forward`, over a module that has graphs (tests/modules/graph_ops.cpp).

#include <gtest/gtest.h>

#include "lib/verify/module_under_test.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::digests;
using test::fixed_digests;
using test::random_prompt;
using test::small_config;

ModelConfig one_layer_of_each() {
  auto config = small_config();
  config.layers = {LayerKind::gdn, LayerKind::attention};
  return config;
}

ModelOptions graphs_on() {
  ModelOptions options;
  options.graphs = true;
  return options;
}

class Graphs : public testing::Test {
 protected:
  GraphStatistics seen() const { return model_->statistics().graphs; }
  std::string eager(const Prompt& prompt) { return eager_->forward(prompt).digest(); }
  std::string replayed_or_not(const Prompt& prompt) { return model_->forward(prompt).digest(); }

  std::unique_ptr<Model> eager_ =
      test::make_model(test::open_module(BRANCHMARK_GRAPH_MODULE), one_layer_of_each());
  std::unique_ptr<Model> model_ = test::twin(*eager_, graphs_on());
};

TEST_F(Graphs, AMissRunsAndRecordsAHitReplaysWithNewInputs) {
  for (int i = 0; i < 4; ++i) {
    auto prompt = random_prompt("tokens " + std::to_string(i), 70);
    // Positions are inputs too, also ones past the first rows of the rotary table.
    if (i == 2)
      for (auto& row : prompt.positions.rows) row.assign(70, 1500 + i);
    EXPECT_EQ(replayed_or_not(prompt), eager(prompt)) << i;
    EXPECT_EQ(seen().captures, 1);
    EXPECT_EQ(seen().replays, i);
  }
  EXPECT_EQ(model_->statistics().passes, 4);
  EXPECT_EQ(eager_->statistics().graphs.captures, 0) << "graphs are switched on, not taken";
}

TEST_F(Graphs, EveryLengthHasItsOwn) {
  // The longest first: what has to grow drops all graphs.
  for (const std::int64_t length : {65, 1, 64, 1, 65, 64}) {
    const auto prompt = random_prompt("length", length);
    EXPECT_EQ(replayed_or_not(prompt), eager(prompt)) << length;
  }
  EXPECT_EQ(seen().captures, 3);
  EXPECT_EQ(seen().replays, 3);
}

TEST_F(Graphs, The65thLengthDropsTheOldest) {
  static_cast<void>(
      model_->forward(random_prompt("widest", 100)));  // the input block has its size from now on
  for (std::int64_t length = 1; length < 64; ++length)
    static_cast<void>(model_->forward(random_prompt("l", length)));
  EXPECT_EQ(seen().captures, 64);
  EXPECT_EQ(seen().drops, 0);
  static_cast<void>(model_->forward(random_prompt("l", 64)));
  EXPECT_EQ(seen().captures, 65);
  EXPECT_EQ(seen().drops, 1);
  static_cast<void>(model_->forward(random_prompt("l", 1)));
  EXPECT_EQ(seen().replays, 1) << "the second oldest is still there";
  const auto oldest = random_prompt("widest", 100);
  EXPECT_EQ(replayed_or_not(oldest), eager(oldest));
  EXPECT_EQ(seen().captures, 66) << "the oldest was recorded again";
}

// K33's CPU part: growth in between, again and again.
TEST_F(Graphs, GrowthDropsAllAndNoBitChanges) {
  const auto short_prompt = random_prompt("short", 50);
  const auto other = random_prompt("other", 60);
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(replayed_or_not(short_prompt), eager(short_prompt));
    EXPECT_EQ(replayed_or_not(other), eager(other));
  }
  EXPECT_EQ(seen().captures, 2);
  EXPECT_EQ(seen().replays, 2);
  const auto longer = random_prompt("longer", 1030);
  EXPECT_EQ(replayed_or_not(longer), eager(longer));
  EXPECT_EQ(seen().drops, 2);
  EXPECT_EQ(replayed_or_not(short_prompt), eager(short_prompt));
  EXPECT_EQ(seen().captures, 4);
  EXPECT_EQ(replayed_or_not(longer), eager(longer));
  EXPECT_EQ(replayed_or_not(short_prompt), eager(short_prompt));
  EXPECT_EQ(seen().replays, 4);
}

// Scratch alone moves: the inputs of the long prompt fit where those of many short ones lay.
TEST_F(Graphs, ScratchGrowthAloneDropsAll) {
  std::vector<Prompt> many;
  for (int i = 0; i < 1000; ++i) many.push_back({{i % 200}, {}});
  static_cast<void>(model_->forward_batch(many, GemmKind::default_choice));
  const auto prompt = random_prompt("short", 50);
  EXPECT_EQ(replayed_or_not(prompt), eager(prompt));
  const auto growths = model_->statistics().scratch_growths;
  static_cast<void>(
      model_->forward_batch(std::vector<Prompt>{random_prompt("longer", 1030)}, GemmKind::fixed));
  EXPECT_EQ(model_->statistics().scratch_growths, growths + 1);
  EXPECT_EQ(seen().drops, 1);
  EXPECT_EQ(replayed_or_not(prompt), eager(prompt));
  EXPECT_EQ(seen().replays, 0);
  EXPECT_EQ(seen().captures, 2);
}

TEST_F(Graphs, AFailedCaptureFallsBackAndIsCounted) {
  const auto prompt = random_prompt("fallback", 40);
  const auto expected = eager(prompt);
  std::int64_t fallbacks = 0;
  for (const char* name : {"graph_begin", "graph_end", "recorded_op"}) {
    const test::Fault fault(name);
    EXPECT_EQ(replayed_or_not(prompt), expected) << name;
    EXPECT_EQ(seen().fallbacks, ++fallbacks) << name;
    EXPECT_EQ(seen().captures, 0) << name;
  }
  EXPECT_EQ(replayed_or_not(prompt), expected);
  EXPECT_EQ(replayed_or_not(prompt), expected);
  EXPECT_EQ(seen().captures, 1);
  EXPECT_EQ(seen().replays, 1);
  EXPECT_EQ(seen().fallbacks, 3);
}

TEST_F(Graphs, SharedRunsAreEagerAndStandBetweenReplays) {
  const auto tree = test::mixed_tree();
  const auto prompts = full_prompts(tree);
  const auto expected = fixed_digests(*eager_, tree);
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const auto& prompt : prompts) EXPECT_EQ(replayed_or_not(prompt.prompt), eager(prompt.prompt));
    const auto before = seen();
    EXPECT_EQ(digests(model_->forward_shared(tree)), expected);
    EXPECT_EQ(fixed_digests(*model_, tree), expected);
    EXPECT_EQ(seen().captures, before.captures);
    EXPECT_EQ(seen().replays, before.replays);
  }
  EXPECT_GT(seen().replays, 0);
}

TEST_F(Graphs, WhatIsObservedOrWantsAllRowsIsEager) {
  const auto prompt = random_prompt("observed", 40);
  static_cast<void>(model_->forward(prompt));
  const auto rows = model_->forward(prompt, {.all_rows = true, .observer = nullptr});
  EXPECT_EQ(rows.num_rows(), 40);
  EXPECT_EQ(test::rows_of(rows, 39, 1).digest(), eager(prompt));
  EXPECT_EQ(seen().replays, 0);
  EXPECT_EQ(replayed_or_not(prompt), eager(prompt));
  EXPECT_EQ(seen().replays, 1);
}

TEST(GraphsOff, AModuleWithoutThemRunsEagerly) {
  const auto model = test::small_model(graphs_on());
  if (model->context().info().supports_graphs != 0) GTEST_SKIP() << "this module has graphs";
  static_cast<void>(model->forward(random_prompt("one", 10)));
  static_cast<void>(model->forward(random_prompt("one", 10)));
  const auto graphs = model->statistics().graphs;
  EXPECT_EQ(graphs.captures + graphs.replays + graphs.fallbacks, 0);
}

}  // namespace
}  // namespace branchmark
