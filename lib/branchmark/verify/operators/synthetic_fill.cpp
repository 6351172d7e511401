// synthetic_fill: the generator that branchmark/kernels.h writes out. Exact.
#include <cmath>

#include "branchmark/base/random.hpp"
#include "branchmark/verify/operators/case_list.hpp"
#include "branchmark/verify/operators/rig.hpp"

namespace branchmark::operators {
namespace {

constexpr std::int64_t kRows = 37;
constexpr std::int64_t kColumns = 203;

struct Recipe {
  bmk_dtype dtype;
  std::int32_t exponent;
  float mean;
};

// mean + s · 2^exponent: the product is exact (s has 18 bits), so the sum rounds once to float32.
float value_at(std::uint64_t key, std::int64_t index, const Recipe& recipe) {
  const std::uint64_t z = random_bits(key, static_cast<std::uint64_t>(index));
  const auto sum =
      static_cast<std::int64_t>((z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48));
  const float scaled = std::ldexp(static_cast<float>(sum - 131070), recipe.exponent);
  return stored(recipe.mean + scaled, recipe.dtype);
}

void check(Bench& bench, Verdict& verdict, const Recipe& recipe) {
  verdict.plan(kRows, kColumns);
  const std::uint64_t key = bench.random.bits();
  const DeviceMatrix out(bench.context, kRows, kColumns, recipe.dtype);
  run_op(*bench.context, "synthetic_fill", bench.context->table().ops->synthetic_fill,
         bmk_synthetic_fill_args{.struct_size = sizeof(bmk_synthetic_fill_args),
                                 .key = key,
                                 .exponent = recipe.exponent,
                                 .mean = recipe.mean,
                                 .out = out.view()});
  HostMatrix expected(kRows, kColumns, recipe.dtype);
  for (std::int64_t i = 0; i < expected.size(); ++i)
    expected.values[static_cast<std::size_t>(i)] = value_at(key, i, recipe);
  verdict.same_bits("out", expected, out.download(verdict, "out"), "the generator's bits are given");
}

}  // namespace

void add_synthetic_fill(CaseList& list) {
  for (const auto dtype : {BMK_BF16, BMK_F32})
    for (const auto& [exponent, mean] : {std::pair{-15, 0.0f}, std::pair{-21, 1.0f}, std::pair{-17, -0.3f}})
      list.add("synthetic_fill", "accuracy", {},
               {{"dtype", name_of(dtype)}, {"exponent", exponent}, {"mean", mean == -0.3f ? -0.3 : mean}},
               [recipe = Recipe{dtype, exponent, mean}](Bench& bench, Verdict& verdict) {
                 check(bench, verdict, recipe);
               });
}

}  // namespace branchmark::operators
