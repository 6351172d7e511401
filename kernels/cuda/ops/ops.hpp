// The ops of the module: one launcher each, in the file of its name. Contracts: branchmark/kernels.h.
#pragma once

#include "../stream.hpp"

namespace branchmark::cuda {

bmk_status embed(bmk_stream* stream, const bmk_embed_args* args);
bmk_status gather_rows(bmk_stream* stream, const bmk_index_rows_args* args);
bmk_status scatter_rows(bmk_stream* stream, const bmk_index_rows_args* args);
bmk_status copy_2d(bmk_stream* stream, const bmk_copy_2d_args* args);
bmk_status synthetic_fill(bmk_stream* stream, const bmk_synthetic_fill_args* args);
bmk_status rms_norm(bmk_stream* stream, const bmk_rms_norm_args* args);
bmk_status add_rms_norm(bmk_stream* stream, const bmk_add_rms_norm_args* args);
bmk_status gated_rms_norm(bmk_stream* stream, const bmk_gated_rms_norm_args* args);
bmk_status conv(bmk_stream* stream, const bmk_conv_args* args);
bmk_status gdn_gates(bmk_stream* stream, const bmk_gdn_gates_args* args);
bmk_status gdn_prefill_workspace(bmk_device* device, const bmk_gdn_prefill_args* args, std::int64_t* bytes);
bmk_status gdn_prefill(bmk_stream* stream, const bmk_gdn_prefill_args* args);
bmk_status attention_prepare(bmk_stream* stream, const bmk_attention_prepare_args* args);
bmk_status gated_attention_workspace(bmk_device* device, const bmk_gated_attention_args* args,
                                     std::int64_t* bytes);
bmk_status gated_attention(bmk_stream* stream, const bmk_gated_attention_args* args);
bmk_status silu_mul(bmk_stream* stream, const bmk_silu_mul_args* args);
bmk_status lora_delta_workspace(bmk_device* device, const bmk_lora_delta_args* args, std::int64_t* bytes);
bmk_status lora_delta(bmk_stream* stream, const bmk_lora_delta_args* args);
bmk_status non_finite_scan(bmk_stream* stream, const bmk_non_finite_scan_args* args);

}  // namespace branchmark::cuda
