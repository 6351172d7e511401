// What each op asks of its arguments. Each function throws Failure, naming the op, at the first thing wrong.
#pragma once

#include "branchmark/kernels.h"
#include "entry/check.hpp"

namespace branchmark::cpu {

// row_checks.cpp
void check_embed(const bmk_embed_args* args);
void check_gather_rows(const bmk_index_rows_args* args);
void check_scatter_rows(const bmk_index_rows_args* args);
void check_copy_2d(const bmk_copy_2d_args* args);
void check_synthetic_fill(const bmk_synthetic_fill_args* args);
void check_rms_norm(const bmk_rms_norm_args* args);
void check_add_rms_norm(const bmk_add_rms_norm_args* args);
void check_gated_rms_norm(const bmk_gated_rms_norm_args* args);
void check_silu_mul(const bmk_silu_mul_args* args);
Check check_lora_delta(const bmk_lora_delta_args* args, Pointers pointers);
void check_non_finite_scan(const bmk_non_finite_scan_args* args);

// sequence_checks.cpp
void check_conv(const bmk_conv_args* args);
void check_gdn_gates(const bmk_gdn_gates_args* args);
Check check_gdn_prefill(const bmk_gdn_prefill_args* args, Pointers pointers);
void check_attention_prepare(const bmk_attention_prepare_args* args);
Check check_gated_attention(const bmk_gated_attention_args* args, Pointers pointers);

}  // namespace branchmark::cpu
