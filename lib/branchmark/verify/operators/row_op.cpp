#include "branchmark/verify/operators/row_op.hpp"

#include <fmt/format.h>

#include <set>

namespace branchmark::operators {
namespace {

constexpr std::int64_t kAccuracyRows = 257;
// Calls of more rows run at one place only: they take the time.
constexpr std::int64_t kMostRowsMoved = 1000;

Parameters with_rows(std::int64_t rows, const Parameters& sizes) {
  Parameters result{{"rows", rows}};
  result.insert(result.end(), sizes.begin(), sizes.end());
  return result;
}

void plan_outputs(Verdict& verdict, const RowOp& op, std::int64_t rows) {
  for (const auto& output : op.outputs()) verdict.plan(rows, output.columns);
}

void check_accuracy(RowOp& op, Verdict& verdict, std::int64_t rows) {
  plan_outputs(verdict, op, rows);
  const auto found = op.run(verdict, 0, rows);
  const auto expected = op.expected();
  const auto outputs = op.outputs();
  for (std::size_t i = 0; i < found.size(); ++i) verdict.within(outputs[i].name, expected[i], found[i]);
  op.check_further(verdict, found);
}

void check_row_bits(RowOp& op, Verdict& verdict, const std::vector<std::int64_t>& row_counts) {
  const std::int64_t all = row_counts.back();
  const auto outputs = op.outputs();
  const auto whole = op.run(verdict, 0, all);
  op.run(verdict, 0, 0);
  for (const auto rows : row_counts) {
    std::set<std::int64_t> firsts{all - rows};
    if (rows <= kMostRowsMoved) firsts.insert({0, (all - rows) / 2});
    for (const auto first : firsts) {
      plan_outputs(verdict, op, rows);
      const auto part = op.run(verdict, first, rows);
      for (std::size_t i = 0; i < part.size(); ++i)
        verdict.same_bits(
            outputs[i].name, rows_of(whole[i], first, rows), part[i],
            fmt::format("rows {} to {} alone and within a call of {} rows", first, first + rows - 1, all));
    }
  }
}

}  // namespace

void add_row_op(CaseList& list, const RowOpCases& cases) {
  list.add(cases.op, "accuracy", cases.numerics, with_rows(kAccuracyRows, cases.sizes),
           [make = cases.make](Bench& bench, Verdict& verdict) {
             check_accuracy(*make(bench, kAccuracyRows), verdict, kAccuracyRows);
           });
  std::vector<std::int64_t> row_counts{1, 2, 7, 64, 65, 257, 1000};
  if (list.full()) row_counts.insert(row_counts.end(), {4096, 8192});
  list.add(cases.op, "row_bits", cases.numerics, with_rows(row_counts.back(), cases.sizes),
           [make = cases.make, row_counts](Bench& bench, Verdict& verdict) {
             check_row_bits(*make(bench, row_counts.back()), verdict, row_counts);
           });
}

}  // namespace branchmark::operators
