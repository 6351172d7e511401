// K09: which prefix states may be continued. Every refusal comes before any call into the module.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "folder.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::capture;
using test::continued;
using test::random_prompt;
using test::small_config;
using test::small_model;

class State : public testing::Test {
 protected:
  // Refused with these words in the message, without a call; and then the model gives what it gave before.
  void expect_refused(const std::shared_ptr<const PrefixState>& state, std::int64_t from,
                      const std::vector<std::string>& parts) {
    const auto calls = model_->context().counters().calls;
    test::expect_error(ErrorCode::refused, parts,
                       [&] { static_cast<void>(continued(*model_, prompt_, from, from + 10, state)); });
    EXPECT_EQ(model_->context().counters().calls, calls);
  }

  // A state of this model, as a pass would fill it, apart from the layers named here.
  std::shared_ptr<PrefixState> made_by_hand(const std::shared_ptr<StatePool>& pool, std::int64_t left_out,
                                            std::shared_ptr<const PrefixState> parent = nullptr) {
    const auto length = (parent == nullptr ? 0 : parent->length()) + 64;
    auto state = pool->acquire(std::move(parent), length, 64);
    for (std::int64_t layer = 0; layer < small_config().num_layers(); ++layer)
      if (layer != left_out) state->mark_layer(layer);
    return state;
  }

  std::unique_ptr<Model> model_ = small_model();
  Prompt prompt_ = random_prompt("state", 200);
  std::shared_ptr<const PrefixState> state_ = capture(*model_, prompt_, 0, 64, 64);
};

TEST_F(State, AWholeOneIsContinued) {
  EXPECT_TRUE(state_->complete());
  EXPECT_EQ(state_->length(), 64);
  EXPECT_EQ(continued(*model_, prompt_, 64, 200, state_).num_rows(), 136);
}

TEST_F(State, K09AnyLayerMissingIsRefused) {
  const auto pool = std::make_shared<StatePool>(model_->shared_context(), small_config(), state_->owner());
  for (std::int64_t layer = 0; layer < small_config().num_layers(); ++layer) {
    const auto partial = made_by_hand(pool, layer);
    partial->mark_layer((layer + 1) % small_config().num_layers());  // twice the same does not make up for it
    partial->mark_ended();
    EXPECT_FALSE(partial->complete());
    expect_refused(partial, 64, {"incomplete"});
  }
}

TEST_F(State, K09OneWhosePassDidNotEndIsRefused) {
  const auto pool = std::make_shared<StatePool>(model_->shared_context(), small_config(), state_->owner());
  const auto unfinished = made_by_hand(pool, -1);
  expect_refused(unfinished, 64, {"incomplete"});
  unfinished->mark_ended();
  EXPECT_TRUE(unfinished->complete());
}

TEST_F(State, K09OneWhoseParentIsIncompleteIsRefused) {
  const auto pool = std::make_shared<StatePool>(model_->shared_context(), small_config(), state_->owner());
  const auto parent = made_by_hand(pool, 1);
  parent->mark_ended();
  const auto child = made_by_hand(pool, -1, parent);
  child->mark_ended();
  EXPECT_EQ(child->length(), 128);
  expect_refused(child, 128, {"incomplete"});
}

TEST_F(State, K09OneOfAnotherModelIsRefused) {
  const auto other = test::twin(*model_);
  const auto foreign = capture(*other, prompt_, 0, 64, 64);
  expect_refused(foreign, 64, {"another model"});
  EXPECT_EQ(continued(*other, prompt_, 64, 100, foreign).digest(),
            continued(*model_, prompt_, 64, 100, state_).digest());
}

TEST_F(State, K09OneOfAnotherLengthIsRefused) {
  expect_refused(state_, 128, {"64 tokens", "128"});
  expect_refused(capture(*model_, prompt_, 0, 128, 128), 64, {"128 tokens", "64"});
  expect_refused(state_, 0, {"64 tokens", "0"});
}

TEST_F(State, K09AVoidOneIsRefused) {
  const auto child = capture(*model_, prompt_, 64, 128, 128, state_);
  model_->void_states();
  expect_refused(state_, 64, {"void"});
  expect_refused(child, 128, {"void"});
  EXPECT_TRUE(capture(*model_, prompt_, 0, 64, 64)->complete()) << "a new one is whole";
}

TEST_F(State, AStateThatIsCapturedAgainFromTheStartServes) {
  const auto expected = continued(*model_, prompt_, 64, 200, state_).digest();
  state_.reset();
  model_->poison_scratch();
  const auto again = capture(*model_, prompt_, 0, 64, 64);
  EXPECT_EQ(continued(*model_, prompt_, 64, 200, again).digest(), expected);
}

TEST_F(State, ItsMemoryIsOutOfTheReachOfLaterCalls) {
  const auto expected = continued(*model_, prompt_, 64, 200, state_).digest();
  const auto memory = test::memory_of(model_->context(), *state_, small_config());
  static_cast<void>(model_->forward_shared(test::mixed_tree()));
  static_cast<void>(model_->forward_fixed(random_prompt("long", 1100)));
  model_->poison_scratch();
  EXPECT_EQ(test::memory_of(model_->context(), *state_, small_config()), memory);
  EXPECT_EQ(continued(*model_, prompt_, 64, 200, state_).digest(), expected);
}

TEST_F(State, MayOutliveItsModel) {
  model_.reset();
  EXPECT_TRUE(state_->complete());
  state_.reset();
}

// The GDN state is float32 [value heads, 128, 128], the rest bf16; spec/execution.md counts them.
TEST_F(State, TakesTheBytesOfItsLayout) {
  const StateLayout layout(preset("qwen3.5-4b"));
  EXPECT_EQ(layout.bytes_per_row(), 32 << 10);
  const auto states = 24ll * 32 * 128 * 128 * 4;
  EXPECT_GE(layout.fixed_bytes(), states);
  EXPECT_NEAR(static_cast<double>(layout.fixed_bytes()), 50.0 * (1 << 20), 1 << 20);
}

TEST_F(State, WindowsThatMakeNoSenseAreRefused) {
  struct Window {
    std::int64_t from, to, capture_at;
    bool with_state;
    std::vector<std::string> parts;
  };
  const std::vector<Window> windows = {
      {64, 64, 0, true, {"64", "below to"}},
      {100, 64, 0, true, {"100", "below to 64"}},
      {-64, 64, 0, false, {"-64"}},
      {64, 100, 0, false, {"no prefix state"}},
      {0, 201, 0, false, {"201", "200 tokens"}},
      {0, 200, 65, false, {"65", "off the grid"}},
      {0, 200, -64, false, {"-64"}},
      {0, 100, 128, false, {"128", "past the window's end 100"}},
      {64, 200, 64, true, {"64", "not past the window's start"}},
  };
  for (const auto& window : windows) {
    const auto calls = model_->context().counters().calls;
    test::expect_error(ErrorCode::refused, window.parts, [&] {
      static_cast<void>(model_->forward_window({.prompt = &prompt_,
                                                .from = window.from,
                                                .to = window.to,
                                                .prefix = window.with_state ? state_ : nullptr,
                                                .capture_at = window.capture_at,
                                                .gemm = GemmKind::fixed}));
    });
    EXPECT_EQ(model_->context().counters().calls, calls);
  }
  test::expect_error(ErrorCode::refused, {"row-independent"}, [&] {
    static_cast<void>(model_->forward_window({.prompt = &prompt_,
                                              .from = 0,
                                              .to = 64,
                                              .prefix = nullptr,
                                              .capture_at = 0,
                                              .gemm = GemmKind::default_choice}));
  });
}

}  // namespace
}  // namespace branchmark
