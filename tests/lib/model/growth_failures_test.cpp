// Growth that fails half-way: memory has moved, and nothing that pointed into it may be used again.

#include "counting_module.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::random_prompt;

// Scratch grows by a step, the input block and the rotary table each by what this prompt needs; with any call
// of that failing, a graph recorded before is not replayed on memory that is gone.
TEST(Growth, AFailureInItDropsTheGraphsOfTheOldMemory) {
  const test::CountingModule module;
  const auto base = test::make_model(module.open(), test::small_config());
  ModelOptions options;
  options.graphs = true;
  const auto small = random_prompt("small", 5);
  const auto expected = base->forward(small).digest();
  auto large = random_prompt("large", 1030);
  for (auto& row : large.positions.rows) row.assign(large.tokens.size(), 3000);

  std::int64_t failures_after_a_move = 0;
  for (std::int64_t nth = 1;; ++nth) {
    const auto model = test::twin(*base, options);
    static_cast<void>(model->forward(small));
    ASSERT_EQ(model->forward(small).digest(), expected);
    ASSERT_EQ(model->statistics().graphs.replays, 1);
    const auto released = module.calls_of("memory.release");
    const auto launched = module.calls_of("graph.launch");
    if (!test::fail_at(module, nth, [&] { static_cast<void>(model->forward(large)); })) break;
    const bool moved = module.calls_of("memory.release") > released;
    EXPECT_EQ(model->forward(small).digest(), expected) << "call " << nth;
    if (!moved) continue;
    ++failures_after_a_move;
    EXPECT_EQ(module.calls_of("graph.launch"), launched) << "call " << nth << ", " << module.failed_entry();
    EXPECT_EQ(model->statistics().graphs.replays, 1);
  }
  EXPECT_GT(failures_after_a_move, 5);
}

// A state's memory has two parts. Where the second cannot be had, the first is given back, and the pool still
// knows what a state would take.
TEST(Growth, AStateWithoutItsSecondPartLeavesNothing) {
  const test::CountingModule module;
  const auto context = module.open();
  const auto pool = std::make_shared<StatePool>(context, test::small_config(), 1);
  const auto missing = pool->missing_bytes({64});
  for (const std::int64_t nth : {1, 2}) {
    test::fail_at(module, nth, [&] { static_cast<void>(pool->acquire(nullptr, 64, 64)); });
    EXPECT_EQ(module.counts().buffers, 0) << nth;
    EXPECT_EQ(pool->statistics().bytes, 0) << nth;
    EXPECT_EQ(pool->missing_bytes({64}), missing) << nth;
  }
  static_cast<void>(pool->acquire(nullptr, 64, 64));
  EXPECT_EQ(pool->missing_bytes({64}), 0);
  EXPECT_EQ(pool->statistics().bytes, module.counts().buffer_bytes);
  test::fail_at(module, 1, [&] { static_cast<void>(pool->acquire(nullptr, 640, 640)); });
  EXPECT_EQ(pool->statistics().bytes, module.counts().buffer_bytes);
}

}  // namespace
}  // namespace branchmark
