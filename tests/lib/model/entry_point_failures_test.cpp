// Every entry point of a model with each of its module calls failing in turn: an error that names the call,
// no memory that a good call would not leave, nothing on the stream, and the next call gives the same bits.

#include <functional>
#include <stdexcept>

#include "branchmark/bench/call_timer.hpp"
#include "branchmark/bench/stage_timer.hpp"
#include "branchmark/verify/synthetic_adapter.hpp"
#include "counting_module.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::digests;
using test::random_group;
using test::random_prompt;
using test::random_tokens;
using Results = std::vector<std::string>;

// Smaller than small_config: the calls are walked one by one.
ModelConfig tiny_config() {
  auto config = test::small_config();
  config.layers = {LayerKind::gdn, LayerKind::attention};
  return config;
}

// Two levels of states, two of them on the second, and branches that end on and off the grid.
PrefixTree tree() {
  return PrefixTree::from_groups(
      random_tokens("request", 65),
      {random_group("a", 64, {3, 5}), random_group("b", 0, {2}), random_group("c", 64, {1})});
}

struct EntryPoint {
  std::string name;
  std::function<Results(Model&)> call;
  std::function<ModelOptions()> options = [] { return ModelOptions{}; };
};

void PrintTo(const EntryPoint& entry, std::ostream* out) {
  *out << entry.name;
}

Results shared(Model& model, const SharedOptions& options) {
  return digests(model.forward_shared(tree(), options));
}

// Room for one state less than packing by level takes.
Results shared_under_a_budget(Model& model) {
  const auto cost = model.state_cost();
  const SharedOptions options{.packing = Packing::per_branch, .max_state_bytes = 2 * cost.bytes(64)};
  return shared(model, options);
}

Results windows(Model& model) {
  const auto prompt = random_prompt("windows", 140);
  const auto first = test::capture(model, prompt, 0, 70, 64);
  const auto second = test::capture(model, prompt, 64, 130, 128, first);
  return {test::continued(model, prompt, 64, 140, first).digest(),
          test::continued(model, prompt, 128, 140, second).digest()};
}

Results batch(Model& model, GemmKind gemm) {
  const std::vector<Prompt> prompts = {random_prompt("three", 3), random_prompt("sixty", 65)};
  return digests(model.forward_batch(prompts, gemm));
}

// Records two graphs and replays both; the second prompt's inputs move the input block.
Results replayed(Model& model) {
  Results results;
  for (const std::int64_t length : {3, 300, 3, 3, 300})
    results.push_back(model.forward(random_prompt("graphs", length)).digest());
  return results;
}

// The search for a first non-finite value that is there: the answer is what its error says. The value is put
// into the CPU module's memory past the module, whose calls are counted; other memory is out of reach.
Results not_finite(Model& model) {
  if (model.context().info().is_cpu == 0) return {};
  auto* norm = static_cast<std::uint16_t*>(model.weights().layers[1].post_norm.data);
  const auto before = *norm;
  *norm = 0x7fc0;  // NaN
  Results results;
  try {
    static_cast<void>(model.forward(random_prompt("not finite", 5)));
  } catch (const Error& error) {
    *norm = before;
    if (error.code() != ErrorCode::non_finite) throw;
    results.emplace_back(error.what());
  }
  *norm = before;
  results.push_back(model.forward(random_prompt("not finite", 5)).digest());
  return results;
}

Results poisoned(Model& model) {
  auto results = shared(model, {});
  model.poison_scratch();
  results.push_back(model.forward(random_prompt("poisoned", 5)).digest());
  return results;
}

// As `bench` runs it: events around the pass, and between its stages. On a GPU there is no nth call to fail:
// the filler makes as many as the pace asks for that it measures.
Results timed(Model& model) {
  if (model.context().info().is_cpu == 0) return {};
  const auto prompt = random_prompt("timed", 5);
  StreamFiller filler(model.shared_context());
  CallTimer calls(model.shared_context(), filler);
  Results results;
  static_cast<void>(calls.as_found(
      [&](PassHook* hook) { results.push_back(model.forward(prompt, {.hook = hook}).digest()); }));
  StageTimer stages(model.shared_context(), filler);
  stages.start(0);
  results.push_back(model.forward(prompt, {.observer = &stages, .hook = &stages}).digest());
  static_cast<void>(stages.take());
  return results;
}

Results all_rows(Model& model) {
  return {model.forward(random_prompt("all rows", 70), {.all_rows = true, .observer = nullptr}).digest()};
}

ModelOptions options_of(bool graphs, bool reference, bool adapter) {
  ModelOptions options;
  options.graphs = graphs;
  options.reference_numerics = reference;
  if (adapter) options.adapter = make_synthetic_adapter(tiny_config(), 2, 1);
  return options;
}

const EntryPoint kEntryPoints[] = {
    {"forward", [](Model& m) { return Results{m.forward(random_prompt("forward", 70)).digest()}; }},
    {"forward_all_rows", all_rows},
    {"forward_adapter", all_rows, [] { return options_of(false, false, true); }},
    {"forward_reference", all_rows, [] { return options_of(false, true, false); }},
    {"forward_replayed", replayed, [] { return options_of(true, false, false); }},
    {"forward_not_finite", not_finite},
    {"forward_timed", timed},
    {"forward_batch_default", [](Model& m) { return batch(m, GemmKind::default_choice); }},
    {"forward_batch_class", [](Model& m) { return batch(m, GemmKind::fastest_of_class); }},
    {"forward_fixed", [](Model& m) { return Results{m.forward_fixed(random_prompt("fixed", 70)).digest()}; }},
    {"forward_shared_packed", [](Model& m) { return shared(m, {}); }},
    {"forward_shared_per_branch", [](Model& m) { return shared(m, {.packing = Packing::per_branch}); }},
    {"forward_shared_under_a_budget", shared_under_a_budget},
    {"forward_window", windows},
    {"poison_scratch", poisoned},
};

class EntryPointFailures : public testing::TestWithParam<EntryPoint> {
 protected:
  std::unique_ptr<Model> fresh() const {
    return std::make_unique<Model>(context_, tiny_config(), weights_, GetParam().options());
  }
  Results call(Model& model) const { return GetParam().call(model); }

  // A failure inside a recording costs the graph and not the result; any other is thrown.
  void fail(Model& model, std::int64_t nth, const Results& expected) const {
    const auto fallbacks = model.statistics().graphs.fallbacks;
    Results found;
    const bool threw = test::fail_at(module_, nth, [&] { found = call(model); });
    if (threw) return;
    EXPECT_EQ(model.statistics().graphs.fallbacks, fallbacks + 1) << "neither thrown nor a lost graph";
    EXPECT_EQ(found, expected);
  }

  std::int64_t calls_of_one_run(Model& model) const {
    const auto before = module_.counts().fallible_calls;
    static_cast<void>(call(model));
    return module_.counts().fallible_calls - before;
  }

  const test::CountingModule module_;
  const std::shared_ptr<Context> context_ = module_.open();
  const std::shared_ptr<const Weights> weights_ =
      std::make_shared<const Weights>(make_synthetic_weights(context_, tiny_config(), 1));
};

TEST_P(EntryPointFailures, OfEachCallOfAFreshModel) {
  const auto without_model = module_.counts();
  auto model = fresh();
  const auto num_calls = calls_of_one_run(*model);
  const auto held = module_.counts();
  const auto expected = call(*model);
  model.reset();
  test::expect_same_live(without_model, module_.counts());
  if (expected.empty()) GTEST_SKIP() << "only on a CPU";
  ASSERT_GT(num_calls, 20);
  for (std::int64_t nth = 1; nth <= num_calls && !HasFailure(); ++nth) {
    model = fresh();
    // Uploading an adapter is the model's making, which loading_failures_test.cpp walks.
    fail(*model, nth, expected);
    SCOPED_TRACE("call " + std::to_string(nth) + ", " + module_.failed_entry());
    test::expect_live_within(held, module_.counts());
    EXPECT_EQ(call(*model), expected);
    test::expect_same_live(held, module_.counts());
    model.reset();
    test::expect_same_live(without_model, module_.counts());
  }
}

TEST_P(EntryPointFailures, OfEachCallOfAModelInUse) {
  const auto model = fresh();
  const auto expected = call(*model);
  const auto num_calls = calls_of_one_run(*model);
  const auto held = module_.counts();
  if (expected.empty()) GTEST_SKIP() << "only on a CPU";
  ASSERT_GT(num_calls, 20);
  for (std::int64_t nth = 1; nth <= num_calls && !HasFailure(); ++nth) {
    fail(*model, nth, expected);
    SCOPED_TRACE("call " + std::to_string(nth) + ", " + module_.failed_entry());
    test::expect_live_within(held, module_.counts());
    EXPECT_EQ(call(*model), expected);
    test::expect_same_live(held, module_.counts());
  }
}

INSTANTIATE_TEST_SUITE_P(Each, EntryPointFailures, testing::ValuesIn(kEntryPoints),
                         [](const auto& each) { return each.param.name; });

// Ends a pass half-way with an exception that no call of the module made.
class Interruption : public PassObserver {
 public:
  void begin_pass(const std::vector<RunRows>&) override {}
  bool wants(std::int64_t layer, std::string_view op) const override {
    return layer == 1 && op == "post_norm";
  }
  void observe(Context&, std::int64_t, std::string_view, const bmk_matrix&) override {
    throw std::runtime_error("interrupted");
  }
};

TEST(FailureOfAnObserver, LeavesNothingQueued) {
  const test::CountingModule module;
  const auto model = test::make_model(module.open(), tiny_config());
  const auto expected = shared(*model, {});
  const auto held = module.counts();
  Interruption interruption;
  EXPECT_THROW(shared(*model, {.observer = &interruption}), std::runtime_error);
  EXPECT_EQ(module.counts().queued, 0);
  test::expect_same_live(held, module.counts());
  EXPECT_EQ(shared(*model, {}), expected);
}

// What an error of each status is taken for.
TEST(StatusOfAFailure, BecomesTheErrorsCode) {
  const test::CountingModule module;
  const auto model = test::make_model(module.open(), tiny_config());
  const std::pair<bmk_status, ErrorCode> codes[] = {{BMK_INVALID_ARGUMENT, ErrorCode::kernel},
                                                    {BMK_UNSUPPORTED, ErrorCode::kernel},
                                                    {BMK_OUT_OF_MEMORY, ErrorCode::not_eligible},
                                                    {BMK_NO_DEVICE, ErrorCode::not_eligible},
                                                    {BMK_UNSERVED_SIZE, ErrorCode::unserved_size},
                                                    {BMK_DEVICE_LOST, ErrorCode::hardware_fault},
                                                    {BMK_FAILED, ErrorCode::kernel}};
  for (const auto& [status, code] : codes) {
    const test::FailingCall failing(module, 1, status);
    try {
      static_cast<void>(model->forward(random_prompt("status", 5)));
      ADD_FAILURE() << "status " << status << " was not thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
    }
  }
}

// The witness of a refusal: what the library counts is what the module sees.
TEST(CountsOfTheLibrary, AreThoseOfTheModule) {
  const test::CountingModule module;
  const auto context = module.open();
  const auto opened = module.counts();
  const auto products = module.calls_of("gemm.run");
  EXPECT_EQ(context->counters().calls, 0);
  {
    const auto model = test::make_model(context, tiny_config(), options_of(true, false, true));
    static_cast<void>(replayed(*model));
    const auto plain = test::twin(*model);
    static_cast<void>(windows(*plain));
    static_cast<void>(shared_under_a_budget(*plain));
    static_cast<void>(not_finite(*plain));
    plain->release_memory();
    const test::FailingCall failing(module, 9);
    EXPECT_THROW(shared(*plain, {}), Error);
  }
  const auto found = module.counts();
  EXPECT_EQ(context->counters().calls, found.calls - opened.calls);
  EXPECT_EQ(context->counters().live_buffers, found.buffers - opened.buffers);
  EXPECT_EQ(context->counters().live_bytes, found.buffer_bytes - opened.buffer_bytes);
  EXPECT_EQ(context->counters().gemms, module.calls_of("gemm.run") - products);
  EXPECT_GT(module.calls_of("graph.destroy"), 0);
}

}  // namespace
}  // namespace branchmark
