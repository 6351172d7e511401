#include "branchmark/bench/ops/op_list.hpp"

namespace branchmark::ops {
namespace {

OpWork silu_mul(Operands& in, std::int64_t rows) {
  const auto& config = in.config();
  const auto gate_up = in.random("gate_up", rows, config.gate_up_width(), in.activation());
  const bmk_silu_mul_args args{.struct_size = sizeof args,
                               .numerics = in.numerics(),
                               .reserved = 0,
                               .gate = columns_of(gate_up, 0, config.ffn),
                               .up = columns_of(gate_up, config.ffn_up_column(), config.ffn),
                               .out = in.output(rows, config.ffn, in.activation())};
  return {in.launch("silu_mul", in.context().table().ops->silu_mul, args), 0,
          bytes_of({args.gate, args.up, args.out})};
}

OpWork gdn_gates(Operands& in, std::int64_t rows) {
  const auto& config = in.config();
  const auto heads = config.value_heads;
  const auto projection = in.random("projection", rows, config.gdn_input_width(), in.activation());
  const bmk_gdn_gates_args args{.struct_size = sizeof args,
                                .numerics = in.numerics(),
                                .reserved = 0,
                                .a = columns_of(projection, config.gdn_a_column(), heads),
                                .b = columns_of(projection, config.gdn_b_column(), heads),
                                .a_log = in.pool().weight("a_log", 1, heads, BMK_F32, kNormal),
                                .dt_bias = in.pool().weight("dt_bias", 1, heads, BMK_F32, kNormal),
                                .g = in.output(rows, heads, BMK_F32),
                                .beta = in.output(rows, heads, BMK_F32)};
  return {in.launch("gdn_gates", in.context().table().ops->gdn_gates, args), 0,
          bytes_of({args.a, args.b, args.a_log, args.dt_bias, args.g, args.beta})};
}

}  // namespace

void add_activations(OpList& list) {
  list.add_rows("silu_mul", {}, "silu_mul", silu_mul);
  list.add_rows("gdn_gates", {}, "gdn_gates", gdn_gates);
}

}  // namespace branchmark::ops
