// The profile guard, counted inside the module: each profile but the default one, alone and together, is
// refused by every entry point that shares, before any module call and any allocation.

#include <functional>

#include "branchmark/verify/synthetic_adapter.hpp"
#include "counting_module.hpp"
#include "folder.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::digests;
using test::random_prompt;

struct Guarded {
  std::string name;  // as its refusal begins
  std::function<void(Model&)> call;
};

WindowRequest window(const Prompt& prompt, std::int64_t from, std::int64_t to) {
  return {.prompt = &prompt, .from = from, .to = to, .prefix = nullptr, .capture_at = 64};
}

const Guarded kGuarded[] = {
    {"forward_fixed", [](Model& m) { static_cast<void>(m.forward_fixed(random_prompt("p", 70))); }},
    {"forward_fixed",
     [](Model& m) {
       static_cast<void>(m.forward_fixed(random_prompt("p", 70), GemmKind::fastest_of_class));
     }},
    {"forward_shared", [](Model& m) { static_cast<void>(m.forward_shared(test::mixed_tree())); }},
    {"forward_shared",
     [](Model& m) {
       static_cast<void>(m.forward_shared(test::mixed_tree(), {.packing = Packing::per_branch}));
     }},
    {"forward_shared",
     [](Model& m) {
       const auto budget = m.plan(test::mixed_tree(), {}).peak_state_bytes;
       static_cast<void>(m.forward_shared(test::mixed_tree(), {.max_state_bytes = budget}));
     }},
    {"forward_window",
     [](Model& m) { static_cast<void>(m.forward_window(window(random_prompt("p", 70), 0, 70))); }},
};

// Requests that are wrong in themselves: the guard speaks first.
const Guarded kWrong[] = {
    {"forward_fixed", [](Model& m) { static_cast<void>(m.forward_fixed({})); }},
    {"forward_shared", [](Model& m) { static_cast<void>(m.forward_shared({})); }},
    {"forward_window",
     [](Model& m) { static_cast<void>(m.forward_window(window(random_prompt("p", 70), 64, 70))); }},
};

class Guard : public testing::TestWithParam<int> {
 protected:
  ModelOptions options() const {
    ModelOptions options;
    options.reference_numerics = (GetParam() & 1) != 0;
    options.gdn_fp32 = (GetParam() & 2) != 0;
    if ((GetParam() & 4) != 0) options.adapter = make_synthetic_adapter(test::small_config(), 2, 1);
    return options;
  }

  void expect_refused(Model& model, const Guarded& guarded) const {
    const auto before = module_.counts();
    std::vector<std::string> said = {guarded.name + ": refused: "};
    if ((GetParam() & 1) != 0) said.emplace_back("numerics reference");
    if ((GetParam() & 2) != 0) said.emplace_back("gdn fp32");
    if ((GetParam() & 4) != 0) said.emplace_back("unmerged LoRA adapter");
    test::expect_error(ErrorCode::refused, said, [&] { guarded.call(model); });
    const auto after = module_.counts();
    EXPECT_EQ(after.calls, before.calls);
    EXPECT_EQ(after.queued, 0);
    test::expect_same_live(before, after);
  }

  const test::CountingModule module_;
  const std::unique_ptr<Model> base_ = test::make_model(module_.open(), test::small_config());
};

TEST_P(Guard, RefusesBeforeAnyModuleCallAndAnyBuffer) {
  const auto model = test::twin(*base_, options());
  for (const auto& guarded : kGuarded) expect_refused(*model, guarded);
  for (const auto& wrong : kWrong) expect_refused(*model, wrong);
}

TEST_P(Guard, ARefusalChangesNoBitOfWhatIsAdmitted) {
  const auto prompt = random_prompt("admitted", 70);
  const auto never_refused = test::twin(*base_, options());
  const auto expected = never_refused->forward(prompt).digest();
  const auto batched = digests(never_refused->forward_batch(std::vector{prompt, prompt}, GemmKind::fixed));
  const auto model = test::twin(*base_, options());
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const auto& guarded : kGuarded) expect_refused(*model, guarded);
    // The control: what is admitted does reach the module.
    const auto before = module_.counts().calls;
    EXPECT_EQ(model->forward(prompt).digest(), expected);
    EXPECT_GT(module_.counts().calls, before);
    EXPECT_EQ(digests(model->forward_batch(std::vector{prompt, prompt}, GemmKind::fixed)), batched);
  }
}

INSTANTIATE_TEST_SUITE_P(EachProfileButTheDefault, Guard, testing::Range(1, 8));

// The control of all the above: the same calls, admitted, are counted.
TEST(GuardControl, TheDefaultProfileIsAdmittedAndCounted) {
  const test::CountingModule module;
  const auto model = test::make_model(module.open(), test::small_config());
  for (const auto& guarded : kGuarded) {
    const auto before = module.counts();
    guarded.call(*model);
    EXPECT_GT(module.counts().calls, before.calls) << guarded.name;
  }
  EXPECT_GT(module.counts().buffers, 0);
  for (const auto& wrong : kWrong) test::expect_error(ErrorCode::refused, {}, [&] { wrong.call(*model); });
}

}  // namespace
}  // namespace branchmark
