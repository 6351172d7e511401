// Continuing from a captured state: the bits of one pass, in results and in the memory of the states.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "folder.hpp"
#include "lib/verify/module_under_test.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::capture;
using test::continued;
using test::memory_of;
using test::random_prompt;
using test::rows_of;
using test::small_config;
using test::small_model;

constexpr std::int64_t kLongest = 200;

struct Comparison {
  std::int64_t windows = 0;
  std::int64_t windows_that_differ = 0;
};

// Each length up to 200 is continued from the state of each cut, and all its rows compared with those of one
// pass over the whole prompt. Rows past a branch's end cannot be seen by it, so one pass answers for all
// lengths.
Comparison compare_continuations(Model& model) {
  Comparison comparison;
  for (std::int64_t cut = 64; cut <= 320; cut += 64) {
    const auto prompt = random_prompt(fmt::format("cut {}", cut), cut + kLongest);
    const auto whole = model.forward_fixed(prompt, GemmKind::fixed, {.all_rows = true, .observer = nullptr});
    const auto state = capture(model, prompt, 0, cut, cut);
    for (std::int64_t length = 1; length <= kLongest; ++length) {
      const auto rows = continued(model, prompt, cut, cut + length, state);
      ++comparison.windows;
      comparison.windows_that_differ += rows.digest() != rows_of(whole, cut, length).digest() ? 1 : 0;
    }
  }
  return comparison;
}

TEST(Continuation, K01EveryCutAndBranchLengthHasTheBitsOfOnePass) {
  const auto model = small_model();
  const auto found = compare_continuations(*model);
  EXPECT_EQ(found.windows, 5 * kLongest);
  EXPECT_EQ(found.windows_that_differ, 0);
  EXPECT_EQ(model->statistics().states_captured, 5);
  EXPECT_EQ(model->statistics().states_resumed, 5 * kLongest);
}

TEST(Continuation, K01EveryWindowDiffersWhereTheCarriedStateIsZeroed) {
  const auto model = test::make_model(test::open_module(BRANCHMARK_FAULTY_MODULE), small_config());
  const test::Fault fault("zero_gdn_state");
  const auto found = compare_continuations(*model);
  EXPECT_EQ(found.windows_that_differ, found.windows);
}

TEST(Continuation, K01OtherFaultsOfACarriedStateAreSeenToo) {
  for (const char* name : {"lost_conv_history", "shifted_positions"}) {
    const auto model = test::make_model(test::open_module(BRANCHMARK_FAULTY_MODULE), small_config());
    const auto prompt = random_prompt("fault", 128);
    const auto whole = model->forward_fixed(prompt, GemmKind::fixed, {.all_rows = true, .observer = nullptr});
    const test::Fault fault(name);
    const auto rows = continued(*model, prompt, 64, 128, capture(*model, prompt, 0, 64, 64));
    EXPECT_NE(rows.digest(), rows_of(whole, 64, 64).digest()) << name;
  }
}

TEST(Continuation, K01TheClassHandleContinuesWithTheBitsOfTheFixedOne) {
  const auto model = small_model();
  const auto prompt = random_prompt("class", 300);
  const auto whole = model->forward_fixed(prompt);
  const auto state = capture(*model, prompt, 0, 192, 192);
  const auto window = model->forward_window({.prompt = &prompt,
                                             .from = 192,
                                             .to = 300,
                                             .prefix = state,
                                             .capture_at = 0,
                                             .gemm = GemmKind::fastest_of_class});
  EXPECT_EQ(window.rows.digest(), whole.digest());
}

// K03: 64n, one less and one more. What is captured at 64n is the final state of a run of 64n tokens,
// whatever follows in the same run; the state knows its length.
TEST(Continuation, K03StatesCapturedOnTheWayEqualFinalOnes) {
  const auto model = small_model();
  const auto config = small_config();
  const auto prompt = random_prompt("capture", 129);
  for (const std::int64_t length : {64, 65, 127, 128, 129}) {
    const auto at = length / 64 * 64;
    const auto on_the_way = capture(*model, prompt, 0, length, at);
    const auto final_one = capture(*model, prompt, 0, at, at);
    ASSERT_NE(on_the_way, nullptr);
    EXPECT_EQ(on_the_way->length(), at);
    EXPECT_EQ(on_the_way->first(), 0);
    EXPECT_TRUE(on_the_way->complete());
    EXPECT_EQ(memory_of(model->context(), *on_the_way, config),
              memory_of(model->context(), *final_one, config))
        << length;
    auto branch = prompt;
    branch.tokens.resize(static_cast<std::size_t>(at));
    branch.tokens.insert(branch.tokens.end(), 20, 7);
    EXPECT_EQ(continued(*model, branch, at, at + 20, on_the_way).digest(),
              continued(*model, branch, at, at + 20, final_one).digest());
  }
  test::expect_error(ErrorCode::refused, {"64", "63"},
                     [&] { static_cast<void>(capture(*model, prompt, 0, 63, 64)); });
}

// Captured anywhere on the grid, with one or more chunks of the run still to come, from the start or
// continued.
TEST(Continuation, K03StatesCapturedEarlyEqualFinalOnes) {
  const auto model = small_model();
  const auto config = small_config();
  const auto prompt = random_prompt("early", 250);
  const auto at_64 = capture(*model, prompt, 0, 64, 64);
  for (std::int64_t at = 64; at <= 192; at += 64) {
    const auto final_one = capture(*model, prompt, 0, at, at);
    const auto early = capture(*model, prompt, 0, 250, at);
    EXPECT_EQ(early->length(), at);
    EXPECT_EQ(memory_of(model->context(), *early, config), memory_of(model->context(), *final_one, config))
        << at;
    if (at == 64) continue;
    const auto early_continued = capture(*model, prompt, 64, 250, at, at_64);
    EXPECT_EQ(memory_of(model->context(), *early_continued, config),
              memory_of(model->context(), *capture(*model, prompt, 64, at, at, at_64), config));
    EXPECT_EQ(continued(*model, prompt, at, 250, early_continued).digest(),
              continued(*model, prompt, at, 250, final_one).digest());
  }
}

// A state that a continuation captures holds the GDN part of the whole prefix, and the keys of its own run.
TEST(Continuation, K03AContinuationCapturesTheStateOfThePass) {
  const auto model = small_model();
  const auto config = small_config();
  const auto prompt = random_prompt("chain", 256);
  const auto whole = capture(*model, prompt, 0, 192, 192);
  auto state = capture(*model, prompt, 0, 64, 64);
  for (std::int64_t at = 128; at <= 192; at += 64)
    state = capture(*model, prompt, at - 64, at + 10, at, state);
  EXPECT_EQ(state->length(), 192);
  EXPECT_EQ(state->first(), 128);
  auto left = memory_of(model->context(), *state, config);
  auto right = memory_of(model->context(), *whole, config);
  ASSERT_EQ(left.size(), right.size());
  const auto own = 64 * config.kv_width() * size_of(BMK_BF16);
  for (auto part = right.size() - 2; part < right.size(); ++part)
    right[part] = right[part].substr(static_cast<std::size_t>(2 * own));
  EXPECT_EQ(left, right);
  EXPECT_EQ(continued(*model, prompt, 192, 256, state).digest(),
            continued(*model, prompt, 192, 256, whole).digest());
}

// K04: rows behind the last one of a chunk, as many as there are places for, change nothing before them, be
// they further tokens, zeros, NaN or what an earlier call left.
TEST(Continuation, K04WhatFollowsTheLastRowChangesNoBit) {
  const auto model = small_model();
  const auto config = small_config();
  const auto prompt = random_prompt("padding", 128);
  const auto alone = model->forward_window(
      {.prompt = &prompt, .from = 0, .to = 64, .prefix = nullptr, .capture_at = 64, .gemm = GemmKind::fixed},
      {.all_rows = true, .observer = nullptr});
  const auto memory = memory_of(model->context(), *alone.captured, config);
  for (std::int64_t more = 0; more < 64; ++more) {
    if (more % 3 == 1) model->poison_scratch();
    if (more % 3 == 2) static_cast<void>(model->forward_fixed(random_prompt("before", 190)));
    const auto longer = model->forward_window({.prompt = &prompt,
                                               .from = 0,
                                               .to = 64 + more,
                                               .prefix = nullptr,
                                               .capture_at = 64,
                                               .gemm = GemmKind::fixed},
                                              {.all_rows = true, .observer = nullptr});
    EXPECT_EQ(rows_of(longer.rows, 0, 64).digest(), alone.rows.digest()) << more;
    EXPECT_EQ(memory_of(model->context(), *longer.captured, config), memory) << more;
  }
}

// K10: a last chunk of every size, after a whole one in the same pass and after a state: its output, and the
// state of a run that goes on from 64 with that tail in its prompt.
TEST(Continuation, K10TailsOfEverySizeGiveTheSameOutputAndState) {
  const auto model = small_model();
  const auto config = small_config();
  const auto prompt = random_prompt("tails", 128);
  const auto whole = model->forward_fixed(prompt, GemmKind::fixed, {.all_rows = true, .observer = nullptr});
  const auto state = capture(*model, prompt, 0, 64, 64);
  const auto memory = memory_of(model->context(), *state, config);
  for (std::int64_t tail = 1; tail < 64; ++tail) {
    auto cut = prompt;
    cut.tokens.resize(static_cast<std::size_t>(64 + tail));
    const auto one_pass = model->forward_fixed(cut, GemmKind::fixed, {.all_rows = true, .observer = nullptr});
    EXPECT_EQ(one_pass.digest(), rows_of(whole, 0, 64 + tail).digest()) << tail;
    EXPECT_EQ(continued(*model, cut, 64, 64 + tail, state).digest(), rows_of(whole, 64, tail).digest())
        << tail;
    EXPECT_EQ(memory_of(model->context(), *capture(*model, cut, 0, 64 + tail, 64), config), memory) << tail;
  }
  EXPECT_EQ(memory_of(model->context(), *state, config), memory)
      << "siblings read a state, they never write it";
}

}  // namespace
}  // namespace branchmark
