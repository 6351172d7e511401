// The formulas against counts made another way: by hand, and by walking over every row.

#include "branchmark/bench/work.hpp"

#include <gtest/gtest.h>

#include "branchmark/model/weights.hpp"

namespace branchmark {
namespace {

TEST(Work, AttentionCountsEveryKeyThatARowSees) {
  for (const std::int64_t first : {0, 64, 1024})
    for (const std::int64_t rows : {1, 2, 63, 100}) {
      double flop = 0;
      for (auto p = first; p < first + rows; ++p) flop += 2 * 2 * 256 * static_cast<double>(p + 1);
      EXPECT_DOUBLE_EQ(attention_flop(first, rows), flop) << first << "+" << rows;
    }
}

TEST(Work, AChunkIsItsProducts) {
  // Products of a chunk of 64: five of 64 x 64 x 128, three of 64 x 128 x 128, and the substitution.
  EXPECT_DOUBLE_EQ(gdn_chunk_flop(64),
                   5 * 2.0 * 64 * 64 * 128 + 3 * 2.0 * 64 * 128 * 128 + 64.0 * 64 * 64 / 3);
  EXPECT_DOUBLE_EQ(gdn_chunk_flop(0), 0);
}

TEST(Work, ProductsAreTwiceTheProjectionsForEachToken) {
  const auto& config = preset("qwen3.5-9b");
  const auto work = work_of(config, one_pass(1024), 2);
  // All weights but the embedding, norms and convolutions, which are below a thousandth.
  const double projections = (static_cast<double>(weights_bytes(config)) / 2 -
                              static_cast<double>(config.vocabulary * config.hidden));
  EXPECT_NEAR(work.gemm_flop / (2 * 1024 * projections), 1, 2e-3);
  EXPECT_EQ(work.num_passes, 1);
  EXPECT_EQ(work.run_tokens, 1024);
}

TEST(Work, ASmallPassMovesItsWeights) {
  const auto& config = preset("qwen3.5-9b");
  const double weights =
      static_cast<double>(weights_bytes(config)) - 2 * static_cast<double>(config.vocabulary * config.hidden);
  const auto work = work_of(config, one_pass(38), 2);
  EXPECT_GT(work.bytes, weights);
  EXPECT_LT(work.bytes, 1.05 * weights);
}

TEST(Work, ASplitPassDoesTheSameWork) {
  const auto& config = preset("qwen3.5-smoke");
  const auto whole = work_of(config, one_pass(320), 2);
  const auto split = work_of(
      config,
      {{{{.first = 0, .rows = 256, .captures = true}}}, {{{.first = 256, .rows = 64, .captures = false}}}},
      2);
  EXPECT_DOUBLE_EQ(split.flop(), whole.flop());
  EXPECT_EQ(split.run_tokens, whole.run_tokens);
  EXPECT_EQ(split.num_passes, 2);
  EXPECT_GT(split.bytes, whole.bytes) << "weights are read twice, a state is written and read";
}

TEST(Work, PackingReadsWeightsOnce) {
  const auto& config = preset("qwen3.5-smoke");
  const SequenceShape branch{.first = 256, .rows = 38, .captures = false};
  const auto packed = work_of(config, {{{branch, branch, branch, branch}}}, 2);
  const auto apart = work_of(config, {{{branch}}, {{branch}}, {{branch}}, {{branch}}}, 2);
  EXPECT_DOUBLE_EQ(packed.flop(), apart.flop());
  // A row's products are two operations for each of the weights' elements, which are two bytes.
  const double weights = packed.gemm_flop / (4 * 38);
  EXPECT_DOUBLE_EQ(apart.bytes - packed.bytes, 3 * weights);
  EXPECT_EQ(packed.run_tokens, apart.run_tokens);
}

TEST(Work, PassesOfAPlan) {
  PromptGroup group{"g", {}, {Tokens(38, 1), Tokens(38, 2)}};
  const auto tree = PrefixTree::from_groups(Tokens(130, 3), {group});
  const auto passes = passes_of(plan_execution(tree, {}));
  ASSERT_EQ(passes.size(), 2u);
  ASSERT_EQ(passes[0].sequences.size(), 1u);
  EXPECT_EQ(passes[0].sequences[0].rows, 128);
  EXPECT_TRUE(passes[0].sequences[0].captures);
  ASSERT_EQ(passes[1].sequences.size(), 2u);
  EXPECT_EQ(passes[1].sequences[0].first, 128);
  EXPECT_EQ(passes[1].num_rows(), 2 * 40);
}

}  // namespace
}  // namespace branchmark
