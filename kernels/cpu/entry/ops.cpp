// The ops of the ABI: check the arguments, then compute. Every op of the table goes through one of the three
// functions below.
#include "entry/api.hpp"
#include "entry/boundary.hpp"
#include "entry/objects.hpp"
#include "entry/op_checks.hpp"

namespace branchmark::cpu {
namespace {

template <auto kCheck, auto kOp, typename Args>
bmk_status run_op(bmk_stream* stream, const Args* args) {
  return guarded([&] {
    kCheck(args);
    require(stream, "stream");
    (stream->device->compute().*kOp)(stream->device->workers, *args);
  });
}

template <auto kQuery, typename Args>
int64_t workspace_bytes(const bmk_device& device, const Args& args) {
  if constexpr (requires { (device.compute().*kQuery)(args); }) {
    return (device.compute().*kQuery)(args);
  } else {
    return (device.compute().*kQuery)(args, device.workers.num_threads());
  }
}

template <auto kCheck, auto kQuery, typename Args>
bmk_status query_workspace(bmk_device* device, const Args* args, int64_t* bytes) {
  return guarded([&] {
    kCheck(args, Pointers::kIgnored);
    require(device, "device");
    require(bytes, "bytes");
    *bytes = workspace_bytes<kQuery>(*device, *args);
  });
}

template <auto kCheck, auto kQuery, auto kOp, typename Args>
bmk_status run_op_with_workspace(bmk_stream* stream, const Args* args) {
  return guarded([&] {
    const Check check = kCheck(args, Pointers::kChecked);
    require(stream, "stream");
    check.workspace(args->workspace, args->workspace_bytes, workspace_bytes<kQuery>(*stream->device, *args));
    (stream->device->compute().*kOp)(stream->device->workers, *args);
  });
}

}  // namespace

const bmk_ops_api kOpsApi{
    .struct_size = sizeof(bmk_ops_api),
    .embed = run_op<check_embed, &Compute::embed>,
    .gather_rows = run_op<check_gather_rows, &Compute::gather_rows>,
    .scatter_rows = run_op<check_scatter_rows, &Compute::scatter_rows>,
    .copy_2d = run_op<check_copy_2d, &Compute::copy_2d>,
    .synthetic_fill = run_op<check_synthetic_fill, &Compute::synthetic_fill>,
    .rms_norm = run_op<check_rms_norm, &Compute::rms_norm>,
    .add_rms_norm = run_op<check_add_rms_norm, &Compute::add_rms_norm>,
    .gated_rms_norm = run_op<check_gated_rms_norm, &Compute::gated_rms_norm>,
    .conv = run_op<check_conv, &Compute::conv>,
    .gdn_gates = run_op<check_gdn_gates, &Compute::gdn_gates>,
    .gdn_prefill_workspace = query_workspace<check_gdn_prefill, &Compute::gdn_prefill_workspace>,
    .gdn_prefill =
        run_op_with_workspace<check_gdn_prefill, &Compute::gdn_prefill_workspace, &Compute::gdn_prefill>,
    .attention_prepare = run_op<check_attention_prepare, &Compute::attention_prepare>,
    .gated_attention_workspace = query_workspace<check_gated_attention, &Compute::gated_attention_workspace>,
    .gated_attention = run_op_with_workspace<check_gated_attention, &Compute::gated_attention_workspace,
                                             &Compute::gated_attention>,
    .silu_mul = run_op<check_silu_mul, &Compute::silu_mul>,
    .lora_delta_workspace = query_workspace<check_lora_delta, &Compute::lora_delta_workspace>,
    .lora_delta =
        run_op_with_workspace<check_lora_delta, &Compute::lora_delta_workspace, &Compute::lora_delta>,
    .non_finite_scan = run_op<check_non_finite_scan, &Compute::non_finite_scan>,
};

}  // namespace branchmark::cpu
