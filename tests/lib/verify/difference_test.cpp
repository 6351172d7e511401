// A bit difference is explained: path, layer, op, row, column and values, for faults of each kind of state.

#include "branchmark/verify/difference.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "lib/model/small_model.hpp"
#include "lib/verify/module_under_test.hpp"

namespace branchmark {
namespace {

using test::random_group;
using test::random_tokens;

class DifferenceExplained : public testing::Test {
 protected:
  Finding explain(const std::string& fault_name) {
    const test::Fault fault(fault_name);
    return explain_difference("request/group/branch 1", traced_shared(*model_, tree_, {}, 1),
                              traced_fixed(*model_, full_prompts(tree_)[1].prompt, GemmKind::fixed),
                              "branchmark qualify x --filter y");
  }
  void expect_named(const std::string& fault, const std::string& pattern) {
    const auto finding = explain(fault);
    EXPECT_EQ(finding.id, "bits_differ");
    EXPECT_EQ(finding.severity, Severity::error);
    EXPECT_TRUE(std::regex_search(finding.message, std::regex(pattern))) << finding.message;
    EXPECT_EQ(finding.message.find("request/group/branch 1: forward_shared and forward_fixed differ"), 0u)
        << finding.message;
    EXPECT_NE(finding.suggestion.find("branchmark qualify x --filter y"), std::string::npos);
  }

  std::unique_ptr<Model> model_ =
      test::make_model(test::open_module(BRANCHMARK_FAULTY_MODULE), test::small_config());
  PrefixTree tree_ =
      PrefixTree::from_groups(random_tokens("request", 70), {random_group("group", 0, {3, 40})});
};

TEST_F(DifferenceExplained, NamesWhereAZeroedStateShows) {
  expect_named(
      "zero_gdn_state",
      "layer 0, op gdn_prefill, row 64, column 0: 0x[0-9a-f]{4} \\(.*\\) and 0x[0-9a-f]{4} \\(.*\\), "
      "[0-9]+ bf16 ulp apart");
}

TEST_F(DifferenceExplained, NamesWhereALostConvolutionRowShows) {
  expect_named("lost_conv_history", "layer 0, op conv, row 64, column [0-9]+: 0x");
}

// Layer 1 is the first with positions; the row is the first that continues and, at the earliest, column 0.
TEST_F(DifferenceExplained, NamesWhereShiftedPositionsShow) {
  expect_named("shifted_positions", "layer 1, op attention_prepare, row 64, column [0-9]+: 0x");
}

// Wide enough that another order of a sum reaches bf16. Every product has passes of another number of rows.
TEST_F(DifferenceExplained, NamesTheProductThatTheDefaultHandleRan) {
  auto wide = test::small_config();
  wide.hidden = 256;
  wide.ffn = 512;
  model_ = test::make_model(test::open_module(BRANCHMARK_FAULTY_MODULE), wide);
  expect_named("default_inside_fixed",
               "layer [0-9]+, op (mixer_input|mixer_output|gate_up|down), row [0-9]+, column [0-9]+: 0x");
}

TEST_F(DifferenceExplained, SaysSoWhereASecondRunFindsNone) {
  const auto finding = explain("");
  EXPECT_NE(finding.message.find("not repeatable"), std::string::npos) << finding.message;
}

TEST_F(DifferenceExplained, PromptsOfABatchAreTheirOwnRuns) {
  const auto prompts = full_prompts(tree_);
  const std::vector<Prompt> batch = {prompts[0].prompt, prompts[1].prompt};
  const auto right = traced_fixed(*model_, batch[1], GemmKind::fixed);
  EXPECT_NE(explain_difference("p", traced_batch(*model_, batch, GemmKind::fixed, 1), right, "")
                .message.find("not repeatable"),
            std::string::npos)
      << "the same prompt has the same bits";
  const auto other =
      explain_difference("p", traced_batch(*model_, batch, GemmKind::fixed, 0), right, "").message;
  EXPECT_NE(other.find("layer -1, op embed, row 70, column 0"), std::string::npos) << other;
}

TEST_F(DifferenceExplained, TracingChangesNoBit) {
  const auto plain = test::digests(model_->forward_shared(tree_));
  auto trace = Trace::of_layer(1);
  EXPECT_EQ(test::digests(model_->forward_shared(tree_, {.observer = &trace})), plain);
  EXPECT_EQ(trace.places().front(), (Trace::Place{1, "layer_input"}));
  auto streams = Trace::of_streams();
  EXPECT_EQ(test::digests(model_->forward_shared(tree_, {.observer = &streams})), plain);
  EXPECT_EQ(streams.places().size(), 4u) << "what enters three layers, and the final rows";
}

}  // namespace
}  // namespace branchmark
