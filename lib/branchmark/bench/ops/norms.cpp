#include "branchmark/bench/ops/op_list.hpp"

namespace branchmark::ops {
namespace {

OpWork rms_norm(Operands& in, std::int64_t rows) {
  const auto hidden = in.config().hidden;
  const bmk_rms_norm_args args{.struct_size = sizeof args,
                               .numerics = in.numerics(),
                               .eps = in.config().rms_eps,
                               .x = in.random("x", rows, hidden, in.activation()),
                               .weight = in.pool().weight("norm", 1, hidden, BMK_BF16, kSmall),
                               .out = in.output(rows, hidden, in.activation())};
  return {in.launch("rms_norm", in.context().table().ops->rms_norm, args), 0,
          bytes_of({args.x, args.weight, args.out})};
}

OpWork add_rms_norm(Operands& in, std::int64_t rows) {
  const auto hidden = in.config().hidden;
  const auto residual = in.random("residual", rows, hidden, in.activation());
  in.changes(residual, residual);
  const bmk_add_rms_norm_args args{.struct_size = sizeof args,
                                   .numerics = in.numerics(),
                                   .eps = in.config().rms_eps,
                                   .residual = residual,
                                   .delta = in.random("delta", rows, hidden, in.activation()),
                                   .weight = in.pool().weight("norm", 1, hidden, BMK_BF16, kSmall),
                                   .out = in.output(rows, hidden, in.activation())};
  return {in.launch("add_rms_norm", in.context().table().ops->add_rms_norm, args), 0,
          bytes_of({residual, residual, args.delta, args.weight, args.out})};
}

OpWork gated_rms_norm(Operands& in, std::int64_t rows) {
  const auto& config = in.config();
  // Where the gate lies in the model: a slice of the stacked projection.
  const auto projection = in.random("projection", rows, config.gdn_input_width(), in.activation());
  const bmk_gated_rms_norm_args args{
      .struct_size = sizeof args,
      .numerics = in.numerics(),
      .eps = config.rms_eps,
      .value_heads = config.value_heads,
      .o = in.random("o", rows, config.value_width(), in.activation()),
      .z = columns_of(projection, config.gdn_z_column(), config.value_width()),
      .weight = in.pool().weight("gdn norm", 1, BMK_GDN_HEAD_DIM, BMK_F32, kNormal),
      .out = in.output(rows, config.value_width(), in.activation())};
  return {in.launch("gated_rms_norm", in.context().table().ops->gated_rms_norm, args), 0,
          bytes_of({args.o, args.z, args.weight, args.out})};
}

}  // namespace

void add_norms(OpList& list) {
  list.add_rows("rms_norm", {}, "rms_norm", rms_norm);
  list.add_rows("add_rms_norm", {}, "add_rms_norm", add_rms_norm);
  list.add_rows("gated_rms_norm", {}, "gated_rms_norm", gated_rms_norm);
}

}  // namespace branchmark::ops
