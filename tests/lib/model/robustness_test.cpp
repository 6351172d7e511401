// Failures of the module and of the numbers: what the error says, and that the model goes on as before.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "branchmark/base/bf16.hpp"
#include "branchmark/verify/synthetic_adapter.hpp"
#include "folder.hpp"
#include "lib/verify/module_under_test.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::digests;
using test::expect_error;
using test::mixed_tree;
using test::random_prompt;
using test::small_config;
using test::small_model;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// One element of a weight, replaced while this lives.
class Replaced {
 public:
  Replaced(Context& context, const bmk_matrix& weight, std::int64_t row, std::int64_t column, float value)
      : context_(context), before_(static_cast<std::size_t>(size_of(weight.dtype))) {
    const auto index = static_cast<std::size_t>(row * weight.row_stride + column);
    place_ = static_cast<char*>(weight.data) + index * before_.size();
    context_.copy_to_host(before_.data(), place_, std::ssize(before_));
    context_.synchronize();
    const std::uint16_t bits = float_to_bf16(value);
    put(weight.dtype == BMK_F32 ? static_cast<const void*>(&value) : &bits);
  }
  ~Replaced() { put(before_.data()); }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  void put(const void* element) {
    context_.copy_to_device(place_, element, std::ssize(before_));
    context_.synchronize();
  }

  Context& context_;
  std::vector<char> before_;
  char* place_;
};

struct Poison {
  std::string name;
  bmk_matrix weight;
  std::int64_t row;
  std::int64_t column;
  float value;
  std::string place;  // in the message
};

// K24: layer, op, row, column and value of the first non-finite value, for a weight of every kind.
TEST(Robustness, K24TheFirstNonFiniteValueIsNamed) {
  const auto model = small_model();
  const auto& weights = model->weights();
  const auto& gdn = weights.layers[0];
  const auto& attention = weights.layers[1];
  const std::vector<Poison> poisons = {
      {"input_norm", gdn.input_norm, 0, 3, kNan, "layer 0, op mixer_input, run 0, position 0, column 0: nan"},
      {"mixer_input", gdn.mixer_input, 5, 3, kNan,
       "layer 0, op mixer_input, run 0, position 0, column 5: nan"},
      {"conv", gdn.conv, 9, 3, kInfinity, "layer 0, op conv, run 0, position 0, column 9: "},
      {"a_log", gdn.a_log, 0, 1, kInfinity, "layer 0, op gdn_gates, run 0, position 0, column 1: -inf"},
      {"gdn_norm", gdn.gdn_norm, 0, 7, kNan, "layer 0, op gated_rms_norm, run 0, position 0, column 7: nan"},
      {"out_proj", gdn.mixer_output, 11, 2, kNan,
       "layer 0, op mixer_output, run 0, position 0, column 11: nan"},
      {"post_norm", gdn.post_norm, 0, 13, kNan, "layer 0, op post_norm, run 0, position 0, column 13: nan"},
      {"gate_up", gdn.gate_up, 96 + 17, 0, kNan, "layer 0, op gate_up, run 0, position 0, column 113: nan"},
      {"down", gdn.down, 19, 0, kNan, "layer 0, op down, run 0, position 0, column 19: nan"},
      {"q_norm", attention.query_norm, 0, 200, kNan,
       "layer 1, op attention_prepare, run 0, position 0, column 200: nan"},
      {"k_norm", attention.key_norm, 0, 200, kNan,
       "layer 1, op gated_attention, run 0, position 0, column 0: nan"},
      {"o_proj", attention.mixer_output, 23, 0, kNan,
       "layer 1, op mixer_output, run 0, position 0, column 23: nan"},
      {"final_norm", weights.final_norm, 0, 29, kNan,
       "layer 3, op final_norm, run 0, position 0, column 29: nan"},
  };
  const auto prompt = random_prompt("finite", 100);
  const auto single = model->forward(prompt).digest();
  const auto fixed = model->forward_fixed(prompt).digest();
  for (const auto& poison : poisons) {
    {
      const Replaced replaced(model->context(), poison.weight, poison.row, poison.column, poison.value);
      for (const auto& call : {std::function([&] { static_cast<void>(model->forward(prompt)); }),
                               std::function([&] { static_cast<void>(model->forward_fixed(prompt)); })}) {
        SCOPED_TRACE(poison.name);
        expect_error(ErrorCode::non_finite, {poison.place}, call);
      }
    }
    EXPECT_EQ(model->forward(prompt).digest(), single) << poison.name;
    EXPECT_EQ(model->forward_fixed(prompt).digest(), fixed) << poison.name;
  }
}

// K24: one bad row is found at its position, in the run and in the prompt that have it.
TEST(Robustness, K24TheRowIsThatOfItsRunAndPrompt) {
  const auto model = small_model();
  auto tree = PrefixTree::from_groups(Tokens(70, 1), {{"", {}, {Tokens(5, 2), Tokens(100, 3)}}});
  tree.root.children[0].children[1].tokens[80] = 4;
  const auto before = digests(model->forward_shared(tree));
  {
    const Replaced replaced(model->context(), model->weights().embedding, 4, 33, kNan);
    const auto plan = model->plan(tree, {});
    ASSERT_EQ(plan.runs[2].path, "request/group 0/branch 1");
    expect_error(ErrorCode::non_finite, {"layer -1, op embed, run 2, position 150, column 33: nan"},
                 [&] { static_cast<void>(model->forward_shared(tree)); });
    const std::vector<Prompt> batch = {{Tokens(9, 1), {}}, {{1, 1, 1, 4}, {}}};
    expect_error(ErrorCode::non_finite, {"layer -1, op embed, run 1, position 3, column 33: nan"},
                 [&] { static_cast<void>(model->forward_batch(batch, GemmKind::fixed)); });
    EXPECT_EQ(model->forward_fixed({Tokens(9, 1), {}}).num_rows(), 1) << "the token is not in this prompt";
  }
  EXPECT_EQ(digests(model->forward_shared(tree)), before);
}

// A state that holds what is not finite must not pass for a whole one where its run had a result.
TEST(Robustness, K24AFailedPassLeavesNoStateBehind) {
  const auto model = small_model();
  const auto prompt = random_prompt("finite", 100);
  const auto memory = model->context().counters().live_bytes;
  const auto state = test::capture(*model, prompt, 0, 64, 64);
  const auto expected = test::continued(*model, prompt, 64, 100, state).digest();
  {
    const Replaced replaced(model->context(), model->weights().layers[2].down, 0, 0, kNan);
    expect_error(ErrorCode::non_finite, {"layer 2, op down"},
                 [&] { static_cast<void>(test::capture(*model, prompt, 0, 64, 64)); });
    expect_error(ErrorCode::non_finite, {"layer 2, op down", "position 64"},
                 [&] { static_cast<void>(test::continued(*model, prompt, 64, 100, state)); });
  }
  EXPECT_EQ(test::continued(*model, prompt, 64, 100, state).digest(), expected);
  EXPECT_GT(model->context().counters().live_bytes, memory);
}

// K37
TEST(Robustness, K37AnUnservedSizeIsAnErrorThatNamesItAndNothingElseRuns) {
  const auto model = test::make_model(test::open_module(BRANCHMARK_FAULTY_MODULE), small_config());
  const auto served = random_prompt("served", 70);
  const auto unserved = random_prompt("unserved", 71);
  const auto tree = mixed_tree();
  const auto before = model->forward_fixed(served).digest();
  const auto shared = digests(model->forward_shared(tree));
  const auto first_shape =
      fmt::format("N={}, K={}, M=71", small_config().gdn_input_width(), small_config().hidden);
  {
    const test::Fault fault("unserved_m=71");
    const auto at = model->context().counters();
    const auto passes = model->statistics().passes;
    for (const auto gemm : {GemmKind::fixed, GemmKind::fastest_of_class})
      expect_error(ErrorCode::unserved_size, {first_shape},
                   [&] { static_cast<void>(model->forward_fixed(unserved, gemm)); });
    expect_error(ErrorCode::unserved_size, {"M=71"}, [&] {
      static_cast<void>(model->forward_window({.prompt = &unserved,
                                               .from = 0,
                                               .to = 71,
                                               .prefix = nullptr,
                                               .capture_at = 64,
                                               .gemm = GemmKind::fixed}));
    });
    EXPECT_EQ(model->context().counters().gemms, at.gemms) << "no other algorithm runs";
    EXPECT_EQ(model->context().counters().ops, at.ops);
    EXPECT_EQ(model->statistics().passes, passes);
    EXPECT_EQ(model->forward_fixed(served).digest(), before) << "a size that is served stays served";
  }
  EXPECT_EQ(model->forward_fixed(served).digest(), before);
  EXPECT_EQ(digests(model->forward_shared(tree)), shared);
  const auto healthy = test::make_model(test::open_module(BRANCHMARK_FAULTY_MODULE), small_config());
  EXPECT_EQ(model->forward_fixed(unserved).digest(), healthy->forward_fixed(unserved).digest());
}

// K37: a plan is checked as a whole, before its first pass.
TEST(Robustness, K37AnUnservedPassOfAPlanIsFoundBeforeTheFirst) {
  const auto model = test::make_model(test::open_module(BRANCHMARK_FAULTY_MODULE), small_config());
  const auto tree = PrefixTree::from_groups(Tokens(64, 1), {{"", {}, {Tokens(20, 2), Tokens(31, 3)}}});
  const test::Fault fault("unserved_m=51");
  expect_error(ErrorCode::unserved_size, {"M=51"}, [&] { static_cast<void>(model->forward_shared(tree)); });
  EXPECT_EQ(model->statistics().passes, 0);
  EXPECT_EQ(model->context().counters().gemms, 0);
  EXPECT_EQ(model->forward_shared(tree, {.packing = Packing::per_branch}).size(), 2u);
}

TEST(Robustness, AFailedOpIsAnErrorAndTheModelGoesOn) {
  const auto model = test::make_model(test::open_module(BRANCHMARK_GRAPH_MODULE), small_config());
  const auto tree = mixed_tree();
  const auto prompt = random_prompt("failure", 90);
  const auto shared = digests(model->forward_shared(tree));
  const auto single = model->forward(prompt).digest();
  const auto buffers = model->context().counters().live_buffers;
  {
    const test::Fault fault("failed_op");
    expect_error(ErrorCode::kernel, {"silu_mul", "injected failure"},
                 [&] { static_cast<void>(model->forward_shared(tree)); });
    expect_error(ErrorCode::kernel, {"silu_mul"}, [&] { static_cast<void>(model->forward(prompt)); });
    expect_error(ErrorCode::kernel, {"silu_mul"},
                 [&] { static_cast<void>(test::capture(*model, prompt, 0, 64, 64)); });
  }
  EXPECT_EQ(digests(model->forward_shared(tree)), shared);
  EXPECT_EQ(model->forward(prompt).digest(), single);
  EXPECT_EQ(model->context().counters().live_buffers, buffers);
}

TEST(Robustness, TooLittleMemoryIsKnownBeforeARun) {
  const auto model = test::make_model(test::open_module(BRANCHMARK_GRAPH_MODULE), small_config());
  const auto prompt = random_prompt("memory", 90);
  {
    const test::Fault fault("no_memory");
    const auto before = model->context().counters();
    for (const auto& call :
         {std::function([&] { static_cast<void>(model->forward_shared(mixed_tree())); }),
          std::function([&] { static_cast<void>(model->forward_fixed(prompt)); }),
          std::function([&] { static_cast<void>(model->forward(prompt)); }),
          std::function([&] { static_cast<void>(test::capture(*model, prompt, 0, 64, 64)); })})
      expect_error(ErrorCode::not_eligible, {"1000 are free"}, call);
    EXPECT_EQ(model->context().counters().ops, before.ops);
    EXPECT_EQ(model->context().counters().allocations, before.allocations);
  }
  EXPECT_EQ(model->forward_fixed(prompt).digest(), small_model()->forward_fixed(prompt).digest());
}

// Every profile but the default one, alone and together: refused before any call or allocation, and named.
TEST(Robustness, TheProfileGuardComesBeforeAnyCall) {
  const auto base = small_model();
  const auto prompt = random_prompt("guard", 70);
  for (int bits = 1; bits < 8; ++bits) {
    ModelOptions options;
    options.reference_numerics = (bits & 1) != 0;
    options.gdn_fp32 = (bits & 2) != 0;
    if ((bits & 4) != 0) options.adapter = make_synthetic_adapter(small_config(), 2, 1);
    const auto model = test::twin(*base, options);
    const auto before = model->context().counters();
    const std::vector<std::function<void()>> calls = {
        [&] { static_cast<void>(model->forward_fixed(prompt)); },
        [&] { static_cast<void>(model->forward_shared(mixed_tree())); },
        [&] { static_cast<void>(test::capture(*model, prompt, 0, 64, 64)); }};
    for (const auto& call : calls) expect_error(ErrorCode::refused, {model->profile().describe()}, call);
    // The guard speaks first, also where the request is wrong in itself.
    expect_error(ErrorCode::refused, {model->profile().describe()},
                 [&] { static_cast<void>(model->forward_fixed({})); });
    EXPECT_EQ(model->context().counters().calls, before.calls);
    EXPECT_EQ(model->context().counters().live_buffers, before.live_buffers);
    EXPECT_EQ(model->forward(prompt).num_rows(), 1) << "forward admits it";
  }
}

}  // namespace
}  // namespace branchmark
