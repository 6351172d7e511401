// copy_2d: element by element between any two types. Exact: bf16 to f32 changes nothing, f32 to bf16 is one
// rounding to nearest even.
#include <bit>

#include "branchmark/verify/operators/case_list.hpp"
#include "branchmark/verify/operators/rig.hpp"

namespace branchmark::operators {
namespace {

constexpr std::int64_t kRows = 67;
constexpr std::int64_t kColumns = 203;  // no multiple of 8: a row ends inside of a vector

void check(Bench& bench, Verdict& verdict, bmk_dtype from, bmk_dtype to) {
  verdict.plan(kRows, kColumns);
  auto in = random_matrix(bench.random, kRows, kColumns, from);
  // Ties in both directions, a carry into the exponent, the largest value, a subnormal, both zeros, infinity.
  const std::uint32_t corners[] = {0x3f808000, 0x3f818000, 0x3f7fffff, 0x3f808001, 0x7f7fffff, 0x7f7f0000,
                                   0x00000001, 0x00008000, 0x00018000, 0x80000000, 0x00000000, 0xff800000};
  for (std::size_t i = 0; i < std::size(corners); ++i)
    in.values[i] = stored(std::bit_cast<float>(corners[i]), from);

  const DeviceMatrix device_in(bench.context, in);
  const DeviceMatrix out(bench.context, kRows, kColumns, to);
  run_op(
      *bench.context, "copy_2d", bench.context->table().ops->copy_2d,
      bmk_copy_2d_args{.struct_size = sizeof(bmk_copy_2d_args), .in = device_in.view(), .out = out.view()});

  auto expected = in;
  expected.dtype = to;
  for (auto& value : expected.values) value = stored(value, to);
  verdict.same_bits("out", expected, out.download(verdict, "out"), "a copy rounds once, to nearest even");
}

}  // namespace

void add_copy_2d(CaseList& list) {
  for (const auto from : {BMK_BF16, BMK_F32})
    for (const auto to : {BMK_BF16, BMK_F32})
      list.add("copy_2d", "accuracy", {}, {{"in", name_of(from)}, {"out", name_of(to)}},
               [from, to](Bench& bench, Verdict& verdict) { check(bench, verdict, from, to); });
}

}  // namespace branchmark::operators
