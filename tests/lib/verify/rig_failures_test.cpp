// The checks' own use of a module with a call of it failing: nothing stays behind, and the next run passes.

#include <array>
#include <set>

#include "branchmark/verify/gemm_rows_rig.hpp"
#include "branchmark/verify/operators.hpp"
#include "lib/model/counting_module.hpp"
#include "module_under_test.hpp"

namespace branchmark {
namespace {

std::size_t differing_rows(const std::shared_ptr<Context>& context) {
  GemmRowsRig rig(context, {.projection = "small", .n = 16, .k = 32}, 8, 1);
  Gemm gemm(context, {.kind = GemmKind::fixed, .trust_cache = false, .cache_file = {}});
  gemm.prepare(rig.shape(), std::array<std::int64_t, 2>{2, 8});
  const auto run = [&](const auto& x, const auto& w, const auto& y) { gemm.run(x, w, y); };
  rig.make_reference(run);
  return rig.compare(run, 1, 2).rows.size();
}

TEST(GemmRowsRigFailures, OfEachCallLeaveNothing) {
  const test::CountingModule module;
  const auto context = module.open();
  const auto before = module.counts();
  EXPECT_EQ(differing_rows(context), 0u);
  const auto num_calls = module.counts().fallible_calls - before.fallible_calls;
  ASSERT_GT(num_calls, 10);
  for (std::int64_t nth = 1; nth <= num_calls; ++nth) {
    SCOPED_TRACE(nth);
    EXPECT_TRUE(test::fail_at(module, nth, [&] { static_cast<void>(differing_rows(context)); }));
    test::expect_same_live(before, module.counts());
  }
  EXPECT_EQ(differing_rows(context), 0u);
}

// One case of each op's check; of its calls the first, the middle and the last fail, as a case with an oracle
// takes too long to be repeated for each.
TEST(OperatorCheckFailures, LeaveNothing) {
  const test::CountingModule module;
  auto context = module.open();
  const auto before = module.counts();
  std::set<std::string> seen;
  for (const auto& one : operator_cases([&] { return context; })) {
    if (!seen.insert(one.parameters[0].second.get<std::string>()).second) continue;
    SCOPED_TRACE(one.parameters[0].second.get<std::string>());
    const auto calls_before = module.counts().fallible_calls;
    EXPECT_EQ(test::carry_out(one).outcome, Outcome::pass);
    const auto num_calls = module.counts().fallible_calls - calls_before;
    for (const auto nth : {std::int64_t{1}, num_calls / 2, num_calls}) {
      EXPECT_TRUE(test::fail_at(module, nth, [&] { static_cast<void>(test::carry_out(one)); })) << nth;
      test::expect_same_live(before, module.counts());
    }
    EXPECT_EQ(test::carry_out(one).outcome, Outcome::pass);
  }
  EXPECT_EQ(seen.size(), 17u);
}

}  // namespace
}  // namespace branchmark
