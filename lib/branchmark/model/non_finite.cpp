#include "branchmark/model/non_finite.hpp"

#include <fmt/format.h>

#include <cstring>

namespace branchmark {
namespace {

// What the scan leaves untouched where it finds nothing (each byte 0x7F).
constexpr std::int64_t kNone = 0x7f7f7f7f7f7f7f7f;

}  // namespace

NonFiniteSearch::NonFiniteSearch(std::shared_ptr<Context> context) : first_index_(std::move(context), 256) {}

void NonFiniteSearch::observe(Context& context, std::int64_t layer, std::string_view op,
                              const bmk_matrix& out) {
  context.fill(first_index_.data(), 0x7f, sizeof(std::int64_t));
  const bmk_non_finite_scan_args args{
      .struct_size = sizeof args, .x = out, .first_index = first_index_.as<std::int64_t>()};
  context.op("non_finite_scan", context.table().ops->non_finite_scan, args);
  std::int64_t index = 0;
  context.copy_to_host(&index, first_index_.data(), sizeof index);
  context.synchronize();
  if (index == kNone) return;
  const auto row = index / out.columns;
  const auto column = index % out.columns;
  const auto value =
      download(context, rows_of(columns_of(out, column / 8 * 8, column % 8 + 1), row, 1)).back();
  std::string where = fmt::format("row {}", row);
  for (const auto& run : runs_)
    if (row >= run.first_row && row < run.first_row + run.num_rows)
      where = fmt::format("run {}, position {}", run.run, run.first_position + row - run.first_row);
  place_ = fmt::format("layer {}, op {}, {}, column {}: {}", layer, op, where, column, value);
}

std::string NonFiniteSearch::message() const {
  if (place_.empty())
    return "a result is not finite, but a second run of the pass with scans found every value finite: the "
           "module's "
           "results are not repeatable";
  return "first non-finite value: " + place_;
}

}  // namespace branchmark
