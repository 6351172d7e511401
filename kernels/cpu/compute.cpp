// The table of the instruction set that this file is compiled for.
#include "compute.hpp"

#include "gemm/gemm.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

const Compute& compute() {
  static constexpr Compute kCompute{
      .embed = embed,
      .gather_rows = gather_rows,
      .scatter_rows = scatter_rows,
      .copy_2d = copy_2d,
      .synthetic_fill = synthetic_fill,
      .rms_norm = rms_norm,
      .add_rms_norm = add_rms_norm,
      .gated_rms_norm = gated_rms_norm,
      .conv = conv,
      .gdn_gates = gdn_gates,
      .gdn_prefill_workspace = gdn_prefill_workspace,
      .gdn_prefill = gdn_prefill,
      .attention_prepare = attention_prepare,
      .gated_attention_workspace = gated_attention_workspace,
      .gated_attention = gated_attention,
      .silu_mul = silu_mul,
      .lora_delta_workspace = lora_delta_workspace,
      .lora_delta = lora_delta,
      .non_finite_scan = non_finite_scan,
      .gemm_scratch_bytes = gemm_scratch_bytes,
      .gemm = gemm,
  };
  return kCompute;
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
