// Checks of the ops that take rows alone.
#include "entry/op_checks.hpp"

namespace branchmark::cpu {

void check_embed(const bmk_embed_args* args) {
  const Check check("embed", args);
  check.matrix("out", args->out, args->out.rows, args->out.columns);
  check.matrix("table", args->table, args->table.rows, args->out.columns);
  check.array("ids", args->ids, args->out.rows);
}

void check_gather_rows(const bmk_index_rows_args* args) {
  const Check check("gather_rows", args);
  check.matrix("in", args->in, args->in.rows, args->in.columns);
  check.matrix("out", args->out, args->out.rows, args->in.columns);
  check.dtype("out", args->out, args->in.dtype);
  check.array("indices", args->indices, args->out.rows);
}

void check_scatter_rows(const bmk_index_rows_args* args) {
  const Check check("scatter_rows", args);
  check.matrix("in", args->in, args->in.rows, args->in.columns);
  check.matrix("out", args->out, args->out.rows, args->in.columns);
  check.dtype("out", args->out, args->in.dtype);
  check.at_least("out.rows", args->out.rows, args->in.rows);
  check.array("indices", args->indices, args->in.rows);
}

void check_copy_2d(const bmk_copy_2d_args* args) {
  const Check check("copy_2d", args);
  check.matrix("in", args->in, args->in.rows, args->in.columns);
  check.matrix("out", args->out, args->in.rows, args->in.columns);
}

void check_synthetic_fill(const bmk_synthetic_fill_args* args) {
  const Check check("synthetic_fill", args);
  check.matrix("out", args->out, args->out.rows, args->out.columns);
  check.that(args->exponent >= -126 && args->exponent <= 127,
             "exponent is " + std::to_string(args->exponent) + ", wanted -126 to 127");
}

void check_rms_norm(const bmk_rms_norm_args* args) {
  const Check check("rms_norm", args);
  check.matrix("x", args->x, args->x.rows, args->x.columns);
  check.at_least("x.columns", args->x.columns, 1);
  check.matrix("weight", args->weight, 1, args->x.columns);
  check.matrix("out", args->out, args->x.rows, args->x.columns);
  check.epsilon(args->eps);
  check.activations(args->numerics, {{"x", args->x}, {"out", args->out}});
}

void check_add_rms_norm(const bmk_add_rms_norm_args* args) {
  const Check check("add_rms_norm", args);
  const bmk_matrix& residual = args->residual;
  check.matrix("residual", residual, residual.rows, residual.columns);
  check.at_least("residual.columns", residual.columns, 1);
  check.matrix("delta", args->delta, residual.rows, residual.columns);
  check.matrix("weight", args->weight, 1, residual.columns);
  check.matrix("out", args->out, residual.rows, residual.columns);
  check.epsilon(args->eps);
  check.activations(args->numerics, {{"residual", residual}, {"delta", args->delta}, {"out", args->out}});
}

void check_gated_rms_norm(const bmk_gated_rms_norm_args* args) {
  const Check check("gated_rms_norm", args);
  check.at_least("value_heads", args->value_heads, 1);
  const int64_t columns = args->value_heads * BMK_GDN_HEAD_DIM;
  check.matrix("o", args->o, args->o.rows, columns);
  check.matrix("z", args->z, args->o.rows, columns);
  check.matrix("weight", args->weight, 1, BMK_GDN_HEAD_DIM);
  check.matrix("out", args->out, args->o.rows, columns);
  check.epsilon(args->eps);
  check.activations(args->numerics, {{"o", args->o}, {"z", args->z}, {"out", args->out}});
}

void check_silu_mul(const bmk_silu_mul_args* args) {
  const Check check("silu_mul", args);
  check.matrix("gate", args->gate, args->gate.rows, args->gate.columns);
  check.matrix("up", args->up, args->gate.rows, args->gate.columns);
  check.matrix("out", args->out, args->gate.rows, args->gate.columns);
  check.activations(args->numerics, {{"gate", args->gate}, {"up", args->up}, {"out", args->out}});
}

Check check_lora_delta(const bmk_lora_delta_args* args, Pointers pointers) {
  const Check check("lora_delta", args, pointers);
  const int64_t rank = args->a.rows;
  check.at_least("a.rows (rank)", rank, 1);
  check.matrix("x", args->x, args->x.rows, args->x.columns);
  check.matrix("a", args->a, rank, args->x.columns);
  check.matrix("b", args->b, args->y.columns, rank);
  check.matrix("y", args->y, args->x.rows, args->y.columns);
  check.dtype("a", args->a, BMK_F32);
  check.dtype("b", args->b, BMK_F32);
  check.activations(args->numerics, {{"x", args->x}, {"y", args->y}});
  return check;
}

void check_non_finite_scan(const bmk_non_finite_scan_args* args) {
  const Check check("non_finite_scan", args);
  check.matrix("x", args->x, args->x.rows, args->x.columns);
  check.array("first_index", args->first_index, args->x.rows);
}

}  // namespace branchmark::cpu
