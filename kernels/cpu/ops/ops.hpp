// The ops as computed, one set for each instruction set that the module is compiled for.
//
// Arguments were validated by the entry points; here is arithmetic only. Every set gives the same bits:
// floats are multiplied, then added (contraction is off), sums have one fixed order, and wider vectors only
// ever hold more outputs, never more terms of one sum.
//
// Files compiled per instruction set define everything inside namespace branchmark::cpu::BRANCHMARK_ISA and
// use no inline function of the standard library: the linker keeps one copy of those for the whole module,
// and the copy could be one that holds instructions which the processor lacks.
#pragma once

#include <cstdint>

#include "branchmark/kernels.h"
#include "workers.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

void embed(Workers& workers, const bmk_embed_args& args);
void gather_rows(Workers& workers, const bmk_index_rows_args& args);
void scatter_rows(Workers& workers, const bmk_index_rows_args& args);
void copy_2d(Workers& workers, const bmk_copy_2d_args& args);
void synthetic_fill(Workers& workers, const bmk_synthetic_fill_args& args);
void rms_norm(Workers& workers, const bmk_rms_norm_args& args);
void add_rms_norm(Workers& workers, const bmk_add_rms_norm_args& args);
void gated_rms_norm(Workers& workers, const bmk_gated_rms_norm_args& args);
void conv(Workers& workers, const bmk_conv_args& args);
void gdn_gates(Workers& workers, const bmk_gdn_gates_args& args);
void gdn_prefill(Workers& workers, const bmk_gdn_prefill_args& args);
void attention_prepare(Workers& workers, const bmk_attention_prepare_args& args);
void gated_attention(Workers& workers, const bmk_gated_attention_args& args);
void silu_mul(Workers& workers, const bmk_silu_mul_args& args);
void lora_delta(Workers& workers, const bmk_lora_delta_args& args);
void non_finite_scan(Workers& workers, const bmk_non_finite_scan_args& args);

// Bytes of workspace that the op of that name asks for. They look at sizes only.
int64_t gdn_prefill_workspace(const bmk_gdn_prefill_args& args, int64_t num_threads);
int64_t gated_attention_workspace(const bmk_gated_attention_args& args, int64_t num_threads);
int64_t lora_delta_workspace(const bmk_lora_delta_args& args);

}  // namespace branchmark::cpu::BRANCHMARK_ISA
