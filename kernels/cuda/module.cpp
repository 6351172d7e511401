// The table of the CUDA module, and its one exported symbol.
#include "device.hpp"
#include "event.hpp"
#include "gemm/gemm.hpp"
#include "graph.hpp"
#include "memory.hpp"
#include "ops/ops.hpp"
#include "stream.hpp"

#ifndef BRANCHMARK_CUDA_BUILD_ID
#error "BRANCHMARK_CUDA_BUILD_ID names compiler, flags and revision"
#endif

namespace branchmark::cuda {
namespace {

constexpr bmk_ops_api kOpsApi = {
    .struct_size = sizeof(bmk_ops_api),
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
};

const bmk_kernels kKernels = {
    .abi_version = BMK_ABI_VERSION,
    .struct_size = sizeof(bmk_kernels),
    .name = "cuda",
    .build_id = BRANCHMARK_CUDA_BUILD_ID,
    .last_error = last_error,
    .device = &kDeviceApi,
    .memory = &kMemoryApi,
    .stream = &kStreamApi,
    .event = &kEventApi,
    .graph = &kGraphApi,
    .gemm = &kGemmApi,
    .ops = &kOpsApi,
};

}  // namespace
}  // namespace branchmark::cuda

extern "C" __attribute__((visibility("default"))) const bmk_kernels* branchmark_kernels(void) {
  return &branchmark::cuda::kKernels;
}
