// Ops that move rows, make them or look at them; a residual row has `hidden` elements.
#include <numeric>

#include "branchmark/base/random.hpp"
#include "branchmark/bench/ops/op_list.hpp"

namespace branchmark::ops {
namespace {

constexpr int kNothingFound = 0x7F;

template <class T>
std::vector<T> random_indices(std::int64_t count, std::int64_t bound) {
  Random random(1, "op indices");
  std::vector<T> indices(static_cast<std::size_t>(count));
  for (auto& index : indices) index = static_cast<T>(random.below(static_cast<std::uint32_t>(bound)));
  return indices;
}

std::vector<std::int64_t> permutation(std::int64_t count) {
  Random random(1, "op permutation");
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  for (std::size_t i = indices.size(); i > 1; --i)
    std::swap(indices[i - 1], indices[random.below(static_cast<std::uint32_t>(i))]);
  return indices;
}

OpWork embed(Operands& in, std::int64_t rows) {
  const auto& config = in.config();
  const auto out = in.output(rows, config.hidden, in.activation());
  const bmk_embed_args args{
      .struct_size = sizeof args,
      .ids = in.array(random_indices<std::int32_t>(rows, config.vocabulary)),
      .table = in.pool().weight("embedding", config.vocabulary, config.hidden, BMK_BF16, kNormal),
      .out = out};
  return {in.launch("embed", in.context().table().ops->embed, args), 0,
          bytes_of({out, matrix(nullptr, rows, config.hidden, BMK_BF16)})};
}

bmk_index_rows_args move_args(Operands& in, std::int64_t rows) {
  const auto hidden = in.config().hidden;
  return {.struct_size = sizeof(bmk_index_rows_args),
          .indices = in.array(permutation(rows)),
          .in = in.random("in", rows, hidden, in.activation()),
          .out = in.output(rows, hidden, in.activation())};
}

OpWork gather_rows(Operands& in, std::int64_t rows) {
  const auto args = move_args(in, rows);
  return {in.launch("gather_rows", in.context().table().ops->gather_rows, args), 0,
          bytes_of({args.in, args.out})};
}

OpWork scatter_rows(Operands& in, std::int64_t rows) {
  const auto args = move_args(in, rows);
  return {in.launch("scatter_rows", in.context().table().ops->scatter_rows, args), 0,
          bytes_of({args.in, args.out})};
}

OpWork copy_2d(Operands& in, std::int64_t rows) {
  const auto hidden = in.config().hidden;
  const bmk_copy_2d_args args{.struct_size = sizeof args,
                              .in = in.random("in", rows, hidden, in.activation()),
                              .out = in.output(rows, hidden, in.activation())};
  return {in.launch("copy_2d", in.context().table().ops->copy_2d, args), 0, bytes_of({args.in, args.out})};
}

OpWork synthetic_fill(Operands& in, std::int64_t rows) {
  const bmk_synthetic_fill_args args{.struct_size = sizeof args,
                                     .key = random_key(1, "op"),
                                     .exponent = kNormal.exponent,
                                     .mean = kNormal.mean,
                                     .out = in.output(rows, in.config().hidden, BMK_BF16)};
  return {in.launch("synthetic_fill", in.context().table().ops->synthetic_fill, args), 0,
          bytes_of({args.out})};
}

OpWork non_finite_scan(Operands& in, std::int64_t rows) {
  const auto x = in.random("x", rows, in.config().hidden, in.activation());
  // The index as two words, which read as finite values while nothing is found.
  const auto index = in.preset(2, BMK_F32, kNothingFound);
  const bmk_non_finite_scan_args args{
      .struct_size = sizeof args, .x = x, .first_index = static_cast<std::int64_t*>(index.data)};
  return {in.launch("non_finite_scan", in.context().table().ops->non_finite_scan, args), 0, bytes_of({x})};
}

}  // namespace

void add_row_moves(OpList& list) {
  list.add_rows("embed", {}, "embed", embed);
  list.add_rows("gather_rows", {}, "gather_rows", gather_rows);
  list.add_rows("scatter_rows", {}, "scatter_rows", scatter_rows);
  list.add_rows("copy_2d", {}, "copy_2d", copy_2d);
  list.add_rows("synthetic_fill", {}, "synthetic_fill", synthetic_fill);
  list.add_rows("non_finite_scan", {}, "non_finite_scan", non_finite_scan);
}

}  // namespace branchmark::ops
