// What is made before a model runs, with each module call failing in turn: nothing of it stays behind, and
// the next attempt succeeds with the same result.

#include <functional>

#include "branchmark/device/event.hpp"
#include "branchmark/device/gemm.hpp"
#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/merge.hpp"
#include "branchmark/verify/synthetic_adapter.hpp"
#include "counting_module.hpp"
#include "folder.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

using test::small_config;

struct Making {
  std::string name;
  std::function<std::string(const std::shared_ptr<Context>&)> make;
};

void PrintTo(const Making& making, std::ostream* out) {
  *out << making.name;
}

// Every byte that the weights hold.
std::string contents(Context& context, const Weights& weights) {
  std::string bytes = weights.digest;
  for (const auto& buffer : weights.buffers) bytes += test::read_back(context, buffer.data(), buffer.bytes());
  return bytes;
}

std::string checkpoint(const std::shared_ptr<Context>& context) {
  return contents(*context, load_weights(context, read_config(test::kMini), Checkpoint(test::kMini)));
}

std::string synthetic(const std::shared_ptr<Context>& context) {
  return contents(*context, make_synthetic_weights(context, small_config(), 1));
}

std::string merged(const std::shared_ptr<Context>& context) {
  auto weights = make_synthetic_weights(context, small_config(), 1);
  merge(*context, small_config(), make_synthetic_adapter(small_config(), 2, 1), weights);
  return contents(*context, weights);
}

std::string unmerged(const std::shared_ptr<Context>& context) {
  ModelOptions options;
  options.adapter = make_synthetic_adapter(small_config(), 2, 1);
  const auto model = test::make_model(context, small_config(), std::move(options));
  return model->profile().describe();
}

std::string gemm_handles(const std::shared_ptr<Context>& context) {
  const auto x = matrix(nullptr, 0, 32, BMK_BF16);
  const auto shape = shape_of(x, matrix(nullptr, 16, 32, BMK_BF16), matrix(nullptr, 0, 16, BMK_BF16));
  std::string text;
  for (const auto kind : {GemmKind::default_choice, GemmKind::fixed, GemmKind::fastest_of_class}) {
    Gemm gemm(context, {.kind = kind, .trust_cache = false, .cache_file = {}});
    gemm.prepare(shape, std::array<std::int64_t, 2>{3, 8});
    for (std::int64_t index = 0; index < gemm.num_algorithms(shape); ++index)
      text += static_cast<const char*>(gemm.algorithm(shape, index).fingerprint);
    // What depends on timing is asked for and not compared.
    static_cast<void>(gemm.chosen_algorithm(shape, 3));
    static_cast<void>(gemm.describe());
  }
  return text;
}

std::string events(const std::shared_ptr<Context>& context) {
  Event begin(context), end(context);
  begin.record();
  end.record();
  end.synchronize();
  const auto elapsed = end.elapsed_ns_since(begin);
  context->synchronize();
  return elapsed >= 0 ? "forward in time" : "backward in time";
}

const Making kMakings[] = {{"synthetic_weights", synthetic}, {"checkpoint", checkpoint},
                           {"merged_adapter", merged},       {"unmerged_adapter", unmerged},
                           {"gemm_handles", gemm_handles},   {"events", events}};

class LoadingFailures : public testing::TestWithParam<Making> {};

TEST_P(LoadingFailures, OfEachCallLeaveNothing) {
  const test::CountingModule module;
  const auto context = module.open();
  const auto before = module.counts();
  const auto expected = GetParam().make(context);
  const auto num_calls = module.counts().fallible_calls - before.fallible_calls;
  test::expect_same_live(before, module.counts());
  ASSERT_GT(num_calls, 5);
  for (std::int64_t nth = 1; nth <= num_calls && !HasFailure(); ++nth) {
    const bool threw = test::fail_at(module, nth, [&] { static_cast<void>(GetParam().make(context)); });
    SCOPED_TRACE("call " + std::to_string(nth) + ", " + module.failed_entry());
    EXPECT_TRUE(threw);
    test::expect_same_live(before, module.counts());
    EXPECT_TRUE(GetParam().make(context) == expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, LoadingFailures, testing::ValuesIn(kMakings),
                         [](const auto& each) { return each.param.name; });

TEST(OpeningFailures, OfEachCallLeaveNothing) {
  const test::CountingModule module;
  const auto before = module.counts();
  static_cast<void>(module.open());
  const auto num_calls = module.counts().fallible_calls - before.fallible_calls;
  EXPECT_EQ(num_calls, 3) << "describe, open, create a stream";
  for (std::int64_t nth = 1; nth <= num_calls; ++nth) {
    EXPECT_TRUE(test::fail_at(module, nth, [&] { static_cast<void>(module.open()); })) << nth;
    test::expect_same_live(before, module.counts());
  }
  EXPECT_NE(module.open(), nullptr);
}

}  // namespace
}  // namespace branchmark
