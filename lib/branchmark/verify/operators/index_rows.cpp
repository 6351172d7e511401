// gather_rows and scatter_rows: whole rows move by an index. Exact; a scatter leaves other rows alone.
#include "branchmark/verify/operators/case_list.hpp"
#include "branchmark/verify/operators/rig.hpp"

namespace branchmark::operators {
namespace {

constexpr std::int64_t kMoved = 67;
constexpr std::int64_t kRows = 130;
constexpr std::int64_t kColumns = 200;

// Distinct rows below kRows in no order, the last and the first among them: 87 and 130 have no common factor.
std::vector<std::int64_t> distinct_rows() {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < kMoved; ++i) rows.push_back((kRows - 1 + i * 87) % kRows);
  return rows;
}

using IndexOp = bmk_status (*)(bmk_stream*, const bmk_index_rows_args*);

HostMatrix move(Bench& bench, Verdict& verdict, const char* name, IndexOp op, const HostMatrix& in,
                const HostMatrix& out_before) {
  const DeviceArray<std::int64_t> indices(bench.context, distinct_rows());
  const DeviceMatrix device_in(bench.context, in);
  const DeviceMatrix device_out(bench.context, out_before);
  run_op(*bench.context, name, op,
         bmk_index_rows_args{.struct_size = sizeof(bmk_index_rows_args),
                             .indices = indices.data(),
                             .in = device_in.view(),
                             .out = device_out.view()});
  return device_out.download(verdict, "out");
}

void check_gather(Bench& bench, Verdict& verdict, bmk_dtype dtype) {
  verdict.plan(kMoved, kColumns);
  const auto in = random_matrix(bench.random, kRows, kColumns, dtype);
  const auto before = random_matrix(bench.random, kMoved, kColumns, dtype);
  HostMatrix expected(kMoved, kColumns, dtype);
  const auto indices = distinct_rows();
  for (std::int64_t row = 0; row < kMoved; ++row)
    for (std::int64_t column = 0; column < kColumns; ++column)
      expected.at(row, column) = in.at(indices[static_cast<std::size_t>(row)], column);
  verdict.same_bits("out", expected,
                    move(bench, verdict, "gather_rows", bench.context->table().ops->gather_rows, in, before),
                    "rows are copied as they are");
}

void check_scatter(Bench& bench, Verdict& verdict, bmk_dtype dtype) {
  verdict.plan(kRows, kColumns);
  const auto in = random_matrix(bench.random, kMoved, kColumns, dtype);
  const auto before = random_matrix(bench.random, kRows, kColumns, dtype);
  auto expected = before;
  const auto indices = distinct_rows();
  for (std::int64_t row = 0; row < kMoved; ++row)
    for (std::int64_t column = 0; column < kColumns; ++column)
      expected.at(indices[static_cast<std::size_t>(row)], column) = in.at(row, column);
  verdict.same_bits(
      "out", expected,
      move(bench, verdict, "scatter_rows", bench.context->table().ops->scatter_rows, in, before),
      "rows are copied as they are, and rows without an index stay");
}

}  // namespace

void add_index_rows(CaseList& list) {
  for (const auto dtype : {BMK_BF16, BMK_F32}) {
    list.add("gather_rows", "accuracy", {}, {{"dtype", name_of(dtype)}},
             [dtype](Bench& bench, Verdict& verdict) { check_gather(bench, verdict, dtype); });
    list.add("scatter_rows", "accuracy", {}, {{"dtype", name_of(dtype)}},
             [dtype](Bench& bench, Verdict& verdict) { check_scatter(bench, verdict, dtype); });
  }
}

}  // namespace branchmark::operators
