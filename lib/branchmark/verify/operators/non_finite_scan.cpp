// non_finite_scan: the least index of a NaN or infinity, and never a larger one than was there. Exact.
#include <fmt/format.h>

#include <limits>

#include "branchmark/verify/operators/case_list.hpp"
#include "branchmark/verify/operators/rig.hpp"

namespace branchmark::operators {
namespace {

constexpr std::int64_t kRows = 130;
constexpr std::int64_t kColumns = 203;
constexpr std::int64_t kNone = 0x7F7F7F7F7F7F7F7F;

struct Scan {
  std::vector<std::int64_t> infected;  // element indices
  std::int64_t before = kNone;
  std::int64_t expected = kNone;
};

void check(Bench& bench, Verdict& verdict, bmk_dtype dtype) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::int64_t last = kRows * kColumns - 1;
  const Scan scans[] = {{{}, kNone, kNone},
                        {{0}, kNone, 0},
                        {{last}, kNone, last},
                        {{last, kColumns - 1, 70 * kColumns}, kNone, kColumns - 1},
                        {{90 * kColumns}, 5, 5}};
  verdict.plan(static_cast<std::int64_t>(std::size(scans)), 1);
  for (const auto& scan : scans) {
    auto x = random_matrix(bench.random, kRows, kColumns, dtype);
    for (std::size_t i = 0; i < scan.infected.size(); ++i)
      x.values[static_cast<std::size_t>(scan.infected[i])] = i % 2 == 0 ? nan : -infinity;
    const DeviceMatrix device_x(bench.context, x);
    const DeviceArray<std::int64_t> index(bench.context, std::vector{scan.before});
    run_op(*bench.context, "non_finite_scan", bench.context->table().ops->non_finite_scan,
           bmk_non_finite_scan_args{.struct_size = sizeof(bmk_non_finite_scan_args),
                                    .x = device_x.view(),
                                    .first_index = index.data()});
    std::int64_t found = 0;
    bench.context->copy_to_host(&found, index.data(), sizeof found);
    bench.context->synchronize();
    if (found != scan.expected)
      verdict.fail("index_differs",
                   fmt::format("first_index is {}, expected {} ({} non-finite elements, {} "
                               "beforehand; {} stands for none)",
                               found, scan.expected, scan.infected.size(), scan.before, kNone));
    verdict.count(1, 1);
  }
}

}  // namespace

void add_non_finite_scan(CaseList& list) {
  for (const auto dtype : {BMK_BF16, BMK_F32})
    list.add("non_finite_scan", "accuracy", {}, {{"dtype", name_of(dtype)}},
             [dtype](Bench& bench, Verdict& verdict) { check(bench, verdict, dtype); });
}

}  // namespace branchmark::operators
