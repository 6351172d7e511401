// embed: rows of a table by id, converted to the activation type. Exact.
#include "branchmark/verify/operators/case_list.hpp"
#include "branchmark/verify/operators/rig.hpp"

namespace branchmark::operators {
namespace {

constexpr std::int64_t kVocabulary = 100;
constexpr std::int64_t kRows = 65;
constexpr std::int64_t kHidden = 200;

void check(Bench& bench, Verdict& verdict, bmk_dtype table_dtype, bmk_dtype out_dtype) {
  verdict.plan(kRows, kHidden);
  const auto table = random_matrix(bench.random, kVocabulary, kHidden, table_dtype);
  std::vector<std::int32_t> ids{0, kVocabulary - 1};
  while (static_cast<std::int64_t>(ids.size()) < kRows)
    ids.push_back(static_cast<std::int32_t>(bench.random.below(kVocabulary)));

  const DeviceMatrix device_table(bench.context, table);
  const DeviceArray<std::int32_t> device_ids(bench.context, ids);
  const DeviceMatrix out(bench.context, kRows, kHidden, out_dtype);
  run_op(*bench.context, "embed", bench.context->table().ops->embed,
         bmk_embed_args{.struct_size = sizeof(bmk_embed_args),
                        .ids = device_ids.data(),
                        .table = device_table.view(),
                        .out = out.view()});

  HostMatrix expected(kRows, kHidden, out_dtype);
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t column = 0; column < kHidden; ++column)
      expected.at(row, column) = stored(table.at(ids[static_cast<std::size_t>(row)], column), out_dtype);
  verdict.same_bits("out", expected, out.download(verdict, "out"), "a table row is copied as it is");
}

}  // namespace

void add_embed(CaseList& list) {
  for (const auto table : {BMK_BF16, BMK_F32})
    for (const auto out : {BMK_BF16, BMK_F32})
      list.add("embed", "accuracy", {}, {{"table", name_of(table)}, {"out", name_of(out)}},
               [table, out](Bench& bench, Verdict& verdict) { check(bench, verdict, table, out); });
}

}  // namespace branchmark::operators
