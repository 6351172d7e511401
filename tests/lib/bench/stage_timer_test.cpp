#include "branchmark/bench/stage_timer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "branchmark/bench/call_timer.hpp"
#include "lib/model/small_model.hpp"

namespace branchmark {
namespace {

// Every op that a pass shows, with the stage that its time falls to: the next mark at or after it.
class OpList final : public PassObserver {
 public:
  void begin_pass(const std::vector<RunRows>&) override {}
  bool wants(std::int64_t, std::string_view) const override { return true; }
  void observe(Context&, std::int64_t, std::string_view op, const bmk_matrix&) override {
    ops.emplace_back(op);
  }
  std::vector<std::string> ops;
};

TEST(StageTimer, EveryOpFallsToItsStage) {
  const auto model = test::small_model();
  OpList list;
  static_cast<void>(
      model->forward(test::random_prompt("p", 70), {.all_rows = false, .observer = &list, .hook = nullptr}));
  std::map<std::string, std::string> stage_of;
  std::string stage = "elementwise";  // the last norm, and the rows gathered after it
  for (auto op = list.ops.rbegin(); op != list.ops.rend(); ++op) {
    if (const auto mark = stage_mark(*op); mark.ends_here) stage = name_of(mark.stage);
    stage_of[*op] = stage;
  }
  const std::map<std::string, std::string> expected = {{"embed", "elementwise"},
                                                       {"layer_input", "elementwise"},
                                                       {"mixer_input", "gemm"},
                                                       {"conv", "gdn"},
                                                       {"gdn_gates", "gdn"},
                                                       {"gdn_prefill", "gdn"},
                                                       {"gated_rms_norm", "gdn"},
                                                       {"attention_prepare", "attention"},
                                                       {"gated_attention", "attention"},
                                                       {"mixer_output", "gemm"},
                                                       {"post_norm", "elementwise"},
                                                       {"gate_up", "gemm"},
                                                       {"silu_mul", "elementwise"},
                                                       {"down", "gemm"},
                                                       {"final_norm", "elementwise"}};
  EXPECT_EQ(stage_of, expected);
}

TEST(StageTimer, StagesAddUpToTheWhole) {
  const auto model = test::small_model();
  StreamFiller filler(model->shared_context());
  StageTimer timer(model->shared_context(), filler);
  const auto tree = test::mixed_tree();
  const auto plain = model->forward_shared(tree);
  for (int i = 0; i < 2; ++i) {
    const auto rows = model->forward_shared(tree, {.gemm = GemmKind::fixed,
                                                   .packing = Packing::packed,
                                                   .max_state_bytes = 0,
                                                   .observer = &timer,
                                                   .hook = &timer});
    const auto times = timer.take();
    EXPECT_EQ(times.made_events, i == 0);
    EXPECT_LE(times.sum_ns(), times.whole_ns);
    EXPECT_GT(times.sum_ns(), 0.5 * times.whole_ns);
    for (const auto ns : times.ns) EXPECT_GT(ns, 0);
    ASSERT_EQ(rows.size(), plain.size());
    for (std::size_t p = 0; p < rows.size(); ++p) EXPECT_EQ(rows[p].values, plain[p].values);
  }
  EXPECT_EQ(timer.take().whole_ns, 0) << "nothing since";

  static_cast<void>(model->forward_shared(tree, {.gemm = GemmKind::fixed,
                                                 .packing = Packing::packed,
                                                 .max_state_bytes = 0,
                                                 .observer = &timer,
                                                 .hook = &timer}));
  timer.start(0);
  EXPECT_EQ(timer.take().whole_ns, 0) << "what was there before the start counts";
}

TEST(CallTimer, TimesEveryPassOfACall) {
  const auto model = test::small_model();
  StreamFiller filler(model->shared_context());
  EXPECT_TRUE(filler.empty()) << "a CPU needs none";
  CallTimer timer(model->shared_context(), filler);
  const auto tree = test::mixed_tree();
  const auto call = [&](PassHook* hook) {
    static_cast<void>(model->forward_shared(tree, {.gemm = GemmKind::fixed,
                                                   .packing = Packing::per_branch,
                                                   .max_state_bytes = 0,
                                                   .observer = nullptr,
                                                   .hook = hook}));
  };
  const auto time = timer.as_found(call);
  EXPECT_GT(time.device_ns, 0);
  EXPECT_GT(time.wall_ns, time.device_ns);
  EXPECT_GT(time.queue_ns, 0);
  int meanwhile = 0;
  const auto busy = timer.kept_busy(call, 1e6, [&] { ++meanwhile; });
  EXPECT_GT(busy.device_ns, 0);
  EXPECT_EQ(static_cast<std::size_t>(meanwhile),
            model->plan(tree, {.gemm = GemmKind::fixed, .packing = Packing::per_branch}).passes.size());
}

TEST(CallTimer, AHookChangesNoBitAndIsToldOfReplays) {
  const auto model = test::make_model(test::open_module(BRANCHMARK_GRAPH_MODULE), test::small_config(), [] {
    ModelOptions options;
    options.graphs = true;
    return options;
  }());
  StreamFiller filler(model->shared_context());
  CallTimer timer(model->shared_context(), filler);
  const auto prompt = test::random_prompt("p", 70);
  const auto eager = model->forward(prompt);
  const auto before = model->statistics().graphs.replays;
  HiddenRows rows;
  const auto time = timer.as_found([&](PassHook* hook) {
    rows = model->forward(prompt, {.all_rows = false, .observer = nullptr, .hook = hook});
  });
  EXPECT_EQ(model->statistics().graphs.replays, before + 1);
  EXPECT_GT(time.device_ns, 0);
  EXPECT_EQ(rows.values, eager.values);
}

TEST(Model, GivesMemoryBackAndTheSameBits) {
  const auto model = test::small_model();
  const auto tree = test::mixed_tree();
  const auto first = model->forward_shared(tree);
  const auto held = model->context().counters().live_bytes;
  model->release_memory();
  EXPECT_LT(model->context().counters().live_bytes, held);
  const auto again = model->forward_shared(tree);
  ASSERT_EQ(again.size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(again[i].values, first[i].values);
  EXPECT_EQ(model->context().counters().live_bytes, held);
}

}  // namespace
}  // namespace branchmark
