// The compute side of the module for one instruction set, as a table. The one set that this machine runs is
// chosen when a device is opened; all give the same bits.
#pragma once

#include <cstdint>

#include "branchmark/kernels.h"
#include "gemm/algorithm.hpp"
#include "workers.hpp"

namespace branchmark::cpu {

// Arguments were validated before; see ops/ops.hpp and gemm/gemm.hpp for the contracts.
struct Compute {
  void (*embed)(Workers&, const bmk_embed_args&);
  void (*gather_rows)(Workers&, const bmk_index_rows_args&);
  void (*scatter_rows)(Workers&, const bmk_index_rows_args&);
  void (*copy_2d)(Workers&, const bmk_copy_2d_args&);
  void (*synthetic_fill)(Workers&, const bmk_synthetic_fill_args&);
  void (*rms_norm)(Workers&, const bmk_rms_norm_args&);
  void (*add_rms_norm)(Workers&, const bmk_add_rms_norm_args&);
  void (*gated_rms_norm)(Workers&, const bmk_gated_rms_norm_args&);
  void (*conv)(Workers&, const bmk_conv_args&);
  void (*gdn_gates)(Workers&, const bmk_gdn_gates_args&);
  int64_t (*gdn_prefill_workspace)(const bmk_gdn_prefill_args&, int64_t num_threads);
  void (*gdn_prefill)(Workers&, const bmk_gdn_prefill_args&);
  void (*attention_prepare)(Workers&, const bmk_attention_prepare_args&);
  int64_t (*gated_attention_workspace)(const bmk_gated_attention_args&, int64_t num_threads);
  void (*gated_attention)(Workers&, const bmk_gated_attention_args&);
  void (*silu_mul)(Workers&, const bmk_silu_mul_args&);
  int64_t (*lora_delta_workspace)(const bmk_lora_delta_args&);
  void (*lora_delta)(Workers&, const bmk_lora_delta_args&);
  void (*non_finite_scan)(Workers&, const bmk_non_finite_scan_args&);
  int64_t (*gemm_scratch_bytes)(int64_t num_threads);
  void (*gemm)(Workers&, const GemmAlgorithm&, const bmk_gemm_args&, void* scratch);
};

namespace baseline {
const Compute& compute();
}
#if defined(__x86_64__)
namespace x86_64_v3 {
const Compute& compute();
}
namespace x86_64_v4 {
const Compute& compute();
}
#endif

}  // namespace branchmark::cpu
