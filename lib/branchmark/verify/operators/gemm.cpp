// The product of each handle against the oracle: 1 ulp and 2^-20 Σ|x · w|; and integers, whose product
// float32 holds exactly in any order of accumulation, so that narrower arithmetic (TF32) shows. What a row's
// bits depend on is the check gemm_rows.
#include "branchmark/device/gemm.hpp"

#include <array>

#include "branchmark/verify/operators/case_list.hpp"
#include "branchmark/verify/operators/rig.hpp"
#include "branchmark/verify/oracle/products.hpp"

namespace branchmark::operators {
namespace {

struct Product {
  GemmKind kind{};
  bmk_dtype activation{};
  bmk_dtype weight{};
  std::int64_t n = 0;
  std::int64_t k = 0;
};

struct DestroyGemm {
  std::shared_ptr<Context> context;
  void operator()(bmk_gemm* gemm) const {
    ++context->counters().calls;
    context->table().gemm->destroy(gemm);
  }
};

// A handle made by direct calls: an unsupported pair of types must be told from a failure.
HostMatrix run(Bench& bench, Verdict& verdict, const Product& product, const HostMatrix& x,
               const HostMatrix& w) {
  auto& context = *bench.context;
  const auto& api = *context.table().gemm;
  const auto require = [&](const char* what, bmk_status status) {
    ++context.counters().calls;
    if (status == BMK_UNSUPPORTED) throw OpUnsupported{};
    context.check(what, status);
  };
  const DeviceMatrix device_x(bench.context, x);
  const DeviceMatrix device_w(bench.context, w);
  const DeviceMatrix y(bench.context, x.rows, w.rows, product.activation);

  const bmk_gemm_options options{.struct_size = sizeof(bmk_gemm_options),
                                 .kind = static_cast<bmk_gemm_kind>(product.kind),
                                 .trust_cache = 0,
                                 .cache_file = nullptr};
  bmk_gemm* made = nullptr;
  require("gemm.create", api.create(context.device(), &options, &made));
  const std::unique_ptr<bmk_gemm, DestroyGemm> gemm(made, DestroyGemm{bench.context});
  const auto shape = shape_of(device_x.view(), device_w.view(), y.view());
  require("gemm.prepare", api.prepare(made, context.stream(), &shape, &x.rows, 1));
  ++context.counters().gemms;
  const bmk_gemm_args args{
      .struct_size = sizeof(bmk_gemm_args), .x = device_x.view(), .w = device_w.view(), .y = y.view()};
  require("gemm.run", api.run(made, context.stream(), &args));
  context.synchronize();
  return y.download(verdict, "y");
}

void check_random(Bench& bench, Verdict& verdict, const Product& product) {
  for (const std::int64_t rows : {1, 33, 130}) {
    verdict.plan(rows, product.n);
    const auto x = random_matrix(bench.random, rows, product.k, product.activation);
    const auto w = random_matrix(bench.random, product.n, product.k, product.weight, 0.06f);
    const std::int32_t slack_ulps = product.activation == BMK_BF16 ? 1 : 0;
    verdict.within("y", oracle::gemm(x, w, product.activation), run(bench, verdict, product, x, w),
                   slack_ulps);
  }
}

// A matrix of integers in (-bound, bound) that the type holds.
HostMatrix integers(Bench& bench, std::int64_t rows, std::int64_t columns, bmk_dtype dtype,
                    std::uint32_t bound) {
  HostMatrix matrix(rows, columns, dtype);
  for (auto& value : matrix.values)
    value = static_cast<float>(static_cast<std::int32_t>(bench.random.below(2 * bound - 1)) -
                               static_cast<std::int32_t>(bound) + 1);
  return matrix;
}

void check_integers(Bench& bench, Verdict& verdict, const Product& product) {
  constexpr std::int64_t kRows = 33;
  constexpr std::uint32_t kBf16Bound = 128;
  // 14 bits, more than TF32's 11; with weights of 2 bits, sums of 256 terms stay below 2^24.
  constexpr std::uint32_t kF32Bound = 16384;
  constexpr std::uint32_t kWeightBound = 4;
  verdict.plan(kRows, product.n);
  const auto x = integers(bench, kRows, product.k, product.activation,
                          product.activation == BMK_BF16 ? kBf16Bound : kF32Bound);
  const auto w = integers(bench, product.n, product.k, product.weight, kWeightBound);
  HostMatrix expected(kRows, product.n, product.activation);
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t column = 0; column < product.n; ++column) {
      double sum = 0;
      for (std::int64_t i = 0; i < product.k; ++i) sum += double{x.at(row, i)} * double{w.at(column, i)};
      expected.at(row, column) = stored(static_cast<float>(sum), product.activation);
    }
  verdict.same_bits("y", expected, run(bench, verdict, product, x, w), "integers that float32 holds exactly");
}

}  // namespace

void add_gemm(CaseList& list) {
  const auto add = [&](const char* data, const Product& product, auto* check) {
    const auto numerics = product.activation == BMK_BF16 ? BMK_NUMERICS_DEFAULT : BMK_NUMERICS_REFERENCE;
    list.add("gemm", "accuracy", numerics,
             {{"gemm", name_of(product.kind)},
              {"weight", name_of(product.weight)},
              {"n", product.n},
              {"k", product.k},
              {"data", data}},
             [=](Bench& bench, Verdict& verdict) { check(bench, verdict, product); });
  };
  const std::int64_t n = list.full() ? 1024 : 136;
  const std::int64_t k = list.full() ? 4096 : 520;
  for (const auto kind : {GemmKind::default_choice, GemmKind::fixed, GemmKind::fastest_of_class})
    for (const auto activation : {BMK_BF16, BMK_F32})
      for (const auto weight : {BMK_BF16, BMK_F32}) {
        add("random", {kind, activation, weight, n, k}, check_random);
        add("integers", {kind, activation, weight, 136, 256}, check_integers);
      }
}

}  // namespace branchmark::operators
