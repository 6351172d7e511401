// Checks of the ops that take rows as sequences, and of the gates beside them.
#include "entry/op_checks.hpp"

namespace branchmark::cpu {

void check_conv(const bmk_conv_args* args) {
  const Check check("conv", args);
  const bmk_sequences& sequences = args->sequences;
  const int64_t channels = args->x.columns;
  check.sequences(sequences);
  check.matrix("x", args->x, sequences.num_rows, channels);
  check.matrix_with_stride("weight", args->weight, channels, BMK_CONV_TAPS, BMK_CONV_TAPS);
  check.matrix("out", args->out, sequences.num_rows, channels);
  check.array("history_in", args->history_in, sequences.num_sequences);
  check.array("history_out", args->history_out, sequences.num_sequences);
  check.array("history_at", args->history_at, sequences.num_sequences);
  check.activations(args->numerics, {{"x", args->x}, {"out", args->out}});
}

void check_gdn_gates(const bmk_gdn_gates_args* args) {
  const Check check("gdn_gates", args);
  const int64_t rows = args->a.rows;
  const int64_t heads = args->a.columns;
  check.matrix("a", args->a, rows, heads);
  check.matrix("b", args->b, rows, heads);
  check.matrix("a_log", args->a_log, 1, heads);
  check.matrix("dt_bias", args->dt_bias, 1, heads);
  check.matrix("g", args->g, rows, heads);
  check.matrix("beta", args->beta, rows, heads);
  check.dtype("g", args->g, BMK_F32);
  check.dtype("beta", args->beta, BMK_F32);
  check.activations(args->numerics, {{"a", args->a}, {"b", args->b}});
}

Check check_gdn_prefill(const bmk_gdn_prefill_args* args, Pointers pointers) {
  const Check check("gdn_prefill", args, pointers);
  const bmk_sequences& sequences = args->sequences;
  check.sequences(sequences);
  check.grouped_heads("value_heads", args->value_heads, "key_heads", args->key_heads);
  const int64_t values = BMK_GDN_HEAD_DIM * args->value_heads;
  check.matrix("qkv", args->qkv, sequences.num_rows, 2 * BMK_GDN_HEAD_DIM * args->key_heads + values);
  check.matrix("g", args->g, sequences.num_rows, args->value_heads);
  check.matrix("beta", args->beta, sequences.num_rows, args->value_heads);
  check.matrix("out", args->out, sequences.num_rows, values);
  check.dtype("g", args->g, BMK_F32);
  check.dtype("beta", args->beta, BMK_F32);
  check.array("state_in", args->state_in, sequences.num_sequences);
  check.array("state_out", args->state_out, sequences.num_sequences);
  check.array("state_at", args->state_at, sequences.num_sequences);
  check.activations(args->numerics, {{"qkv", args->qkv}, {"out", args->out}});
  return check;
}

void check_attention_prepare(const bmk_attention_prepare_args* args) {
  const Check check("attention_prepare", args);
  const bmk_sequences& sequences = args->sequences;
  constexpr int64_t kHead = BMK_ATTENTION_HEAD_DIM;
  check.sequences(sequences);
  check.grouped_heads("query_heads", args->query_heads, "kv_heads", args->kv_heads);
  check.matrix("projection", args->projection, sequences.num_rows,
               2 * kHead * args->query_heads + 2 * kHead * args->kv_heads);
  check.matrix("query_norm", args->query_norm, 1, kHead);
  check.matrix("key_norm", args->key_norm, 1, kHead);
  check.matrix("cosines", args->cosines, args->cosines.rows, BMK_ROTARY_FREQUENCIES);
  check.matrix("sines", args->sines, args->cosines.rows, BMK_ROTARY_FREQUENCIES);
  check.matrix("query", args->query, sequences.num_rows, kHead * args->query_heads);
  check.array("positions", args->positions, sequences.num_rows);
  check.array("key_out", args->key_out, sequences.num_rows > 0 ? sequences.num_sequences : 0);
  check.array("value_out", args->value_out, sequences.num_rows > 0 ? sequences.num_sequences : 0);
  check.at_least("section_height", args->section_height, 0);
  check.at_least("section_width", args->section_width, 0);
  check.epsilon(args->eps);
  check.activations(args->numerics, {{"projection", args->projection},
                                     {"cosines", args->cosines},
                                     {"sines", args->sines},
                                     {"query", args->query}});
}

Check check_gated_attention(const bmk_gated_attention_args* args, Pointers pointers) {
  const Check check("gated_attention", args, pointers);
  const bmk_sequences& sequences = args->sequences;
  constexpr int64_t kHead = BMK_ATTENTION_HEAD_DIM;
  check.sequences(sequences);
  check.grouped_heads("query_heads", args->query_heads, "kv_heads", args->kv_heads);
  check.at_least("gate_head_stride", args->gate_head_stride, kHead);
  check.matrix("query", args->query, sequences.num_rows, kHead * args->query_heads);
  check.matrix("gate", args->gate, sequences.num_rows,
               args->gate_head_stride * (args->query_heads - 1) + kHead);
  check.matrix("out", args->out, sequences.num_rows, kHead * args->query_heads);
  check.at_least("num_segments", args->num_segments, 0);
  check.at_least("max_positions", args->max_positions, sequences.max_rows);
  if (sequences.num_rows > 0) {
    check.array("segment_offsets", args->segment_offsets, sequences.num_sequences);
    check.array("segment_keys", args->segment_keys, args->num_segments);
    check.array("segment_values", args->segment_values, args->num_segments);
    check.array("segment_first_position", args->segment_first_position, args->num_segments);
    check.array("segment_length", args->segment_length, args->num_segments);
  }
  check.activations(args->numerics, {{"query", args->query}, {"gate", args->gate}, {"out", args->out}});
  return check;
}

}  // namespace branchmark::cpu
