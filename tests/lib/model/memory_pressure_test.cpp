// K31: what a handle chooses does not hang on how much memory is left. For a device; a host's memory is not
// to be taken.
#include <gtest/gtest.h>

#include "branchmark/base/json.hpp"
#include "branchmark/device/device_buffer.hpp"
#include "branchmark/device/gemm.hpp"
#include "small_model.hpp"

namespace branchmark {
namespace {

constexpr std::int64_t kColumns = 2560;
constexpr std::int64_t kInner = 4096;
constexpr std::int64_t kRowCounts[] = {1, 64, 1024};

struct Chosen {
  std::vector<std::string> algorithms;
  std::vector<std::int64_t> by_rows;  // of the fixed handle; the class's choice is one of time
  bool operator==(const Chosen&) const = default;
};

Chosen choose(const std::shared_ptr<Context>& context, GemmKind kind) {
  Gemm gemm(context, {.kind = kind, .trust_cache = false, .cache_file = {}});
  const auto shape =
      shape_of(matrix(nullptr, 1, kInner, BMK_BF16), matrix(nullptr, kColumns, kInner, BMK_BF16),
               matrix(nullptr, 1, kColumns, BMK_BF16));
  gemm.prepare(shape, kRowCounts);
  Chosen chosen;
  for (std::int64_t i = 0; i < gemm.num_algorithms(shape); ++i) {
    const auto algorithm = gemm.algorithm(shape, i);
    EXPECT_TRUE(algorithm.in_class == 0 || algorithm.split_k == 1) << algorithm.fingerprint;
    chosen.algorithms.push_back(std::string(algorithm.fingerprint) + (algorithm.in_class != 0 ? " in" : ""));
  }
  if (kind == GemmKind::fixed)
    for (const auto rows : kRowCounts) chosen.by_rows.push_back(gemm.chosen_algorithm(shape, rows));
  return chosen;
}

TEST(MemoryPressure, K31TheAlgorithmsAreTheSameWithLittleMemoryLeft) {
  const auto context = test::open_module(BRANCHMARK_CPU_MODULE);
  if (context->info().is_cpu != 0) GTEST_SKIP() << "for a device with memory of its own";
  const auto fixed = choose(context, GemmKind::fixed);
  const auto in_class = choose(context, GemmKind::fastest_of_class);
  EXPECT_GT(in_class.algorithms.size(), 1u);
  const DeviceBuffer taken(context, context->free_bytes() / 100 * 95);
  EXPECT_EQ(choose(context, GemmKind::fixed), fixed);
  EXPECT_EQ(choose(context, GemmKind::fastest_of_class), in_class);
}

}  // namespace
}  // namespace branchmark
