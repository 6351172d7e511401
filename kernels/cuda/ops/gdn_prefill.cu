// The gated delta rule over whole sequences (Gated Delta Networks, arXiv 2412.06464).
//
// Per value head, with S float32 [128 key, 128 value] and rows i, j of one chunk of 64 tokens:
//   q, k    x · rsqrt(Σ x² + 1e-6); q also · 128^−½
//   c_i     g_0 + ... + g_i                    D_ij  exp(c_i − c_j) for j <= i
//   A_ij    beta_i (k_i · k_j) D_ij, j < i     T     (I + A)⁻¹
//   U       [T diag(beta)] v                   W     [T diag(beta)] [k e^c]
//   Vn      [[U] − [W] [S]]                    o     [q e^c] [S] + [(q kᵀ) ∘ D] [Vn]
//   S       e^{c_end} S + [k e^{c_end − c}]ᵀ [Vn]
// where [x] is x rounded to bf16 under numerics DEFAULT; everything else is float32, and the normalised q
// and k are not rounded in k kᵀ and q kᵀ. GDN_FP32 and REFERENCE round nothing and run the recurrence that
// this equals.
//
// qkv: [rows, q | k | v], 128 per key head, key head and value head; g, beta: [rows, value heads] f32; out:
// [rows, 128 · value heads]; qkv and out bf16, or f32 under REFERENCE.
//
// Numerics DEFAULT is two kernels: what depends on one chunk alone, for all chunks at once, and what goes
// from chunk to chunk, for all sequences, heads and halves of the values at once. Both do the same for
// every number and length of sequences. Refused: one kernel that does both, which has no more blocks than
// heads for a single sequence.
#include "../wgmma_device.hpp"
#include "gdn_prefill_f32.cuh"
#include "gdn_prefill_prepare.cuh"
#include "gdn_prefill_state_mma.cuh"
#include "gdn_prefill_state_wgmma.cuh"
#include "ops.hpp"
#include "shared_memory.cuh"

namespace branchmark::cuda {
namespace {

std::int64_t num_records(const bmk_gdn_prefill_args& args) {
  return args.sequences.num_chunks * args.value_heads;
}

std::int64_t workspace_bytes(const bmk_device& device, const bmk_gdn_prefill_args& args) {
  if (args.numerics != BMK_NUMERICS_DEFAULT) return 0;
  return has_wgmma(device) ? GdnWorkspace<GdnMatrixRecord>::bytes(num_records(args))
                           : GdnWorkspace<GdnFragmentRecord>::bytes(num_records(args));
}

void require_heads(const bmk_gdn_prefill_args& args) {
  require_at_least(args.key_heads, 1, "gdn_prefill: key_heads");
  require_at_least(args.value_heads, args.key_heads, "gdn_prefill: value_heads");
  require_equal(args.value_heads % args.key_heads, 0, "gdn_prefill: value_heads modulo key_heads");
  require_at_least(args.sequences.num_chunks, 0, "gdn_prefill: sequences.num_chunks");
}

void require_gdn_prefill(const bmk_device& device, const bmk_gdn_prefill_args& args) {
  const bmk_dtype activation = args.qkv.dtype;
  const std::int64_t rows = args.qkv.rows;
  require_numerics(args.numerics, activation, "gdn_prefill");
  require_heads(args);
  require_matrix(args.qkv, "gdn_prefill: qkv", rows,
                 BMK_GDN_HEAD_DIM * (2 * args.key_heads + args.value_heads), activation);
  require_matrix(args.g, "gdn_prefill: g", rows, args.value_heads, BMK_F32);
  require_matrix(args.beta, "gdn_prefill: beta", rows, args.value_heads, BMK_F32);
  require_matrix(args.out, "gdn_prefill: out", rows, BMK_GDN_HEAD_DIM * args.value_heads, activation);
  require_sequences(args.sequences, rows);
  if (args.sequences.num_sequences == 0) return;
  require_pointer(args.state_in, "gdn_prefill: state_in");
  require_pointer(args.state_out, "gdn_prefill: state_out");
  require_pointer(args.state_at, "gdn_prefill: state_at");
  if (workspace_bytes(device, args) == 0) return;
  require_at_least(args.workspace_bytes, workspace_bytes(device, args), "gdn_prefill: workspace_bytes");
  require_pointer(args.workspace, "gdn_prefill: workspace");
  require_equal(
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(args.workspace) % kDataAlignmentBytes), 0,
      "gdn_prefill: workspace modulo 16");
}

// The two kernels, the second with its own layout of records.
template <class Record, class StateConfig>
void launch_bf16(const bmk_stream* stream, cudaStream_t queue, const bmk_gdn_prefill_args& args,
                 void (*state_kernel)(bmk_gdn_prefill_args, GdnWorkspace<Record>)) {
  const auto workspace = GdnWorkspace<Record>::in(args.workspace, num_records(args));
  constexpr int kPrepareBytes = sizeof(gdn_prepare::Shared);
  allow_shared_bytes(stream, gdn_prepare_kernel<Record>, kPrepareBytes, "gdn_prefill");
  allow_shared_bytes(stream, state_kernel, StateConfig::kSharedBytes, "gdn_prefill");
  if (num_records(args) > 0) {
    const unsigned blocks = grid_of(num_records(args), "gdn_prefill");
    gdn_prepare_kernel<Record><<<blocks, GdnPrepareConfig::kThreads, kPrepareBytes, queue>>>(args, workspace);
    check_launch("gdn_prefill");
  }
  const unsigned blocks =
      grid_of(args.sequences.num_sequences * args.value_heads * StateConfig::kSlices, "gdn_prefill");
  state_kernel<<<blocks, StateConfig::kThreads, StateConfig::kSharedBytes, queue>>>(args, workspace);
}

void launch_f32(cudaStream_t queue, const bmk_gdn_prefill_args& args) {
  const unsigned blocks =
      grid_of(args.sequences.num_sequences * args.value_heads * GdnF32Config::kSlices, "gdn_prefill");
  for_dtype(args.qkv.dtype, [&](auto* activation) {
    gdn_f32_kernel<pointee<decltype(activation)>><<<blocks, GdnF32Config::kThreads, 0, queue>>>(args);
  });
}

}  // namespace

bmk_status gdn_prefill_workspace(bmk_device* device, const bmk_gdn_prefill_args* args, std::int64_t* bytes) {
  return guarded([&] {
    activate(device);
    require_args(args, "gdn_prefill_workspace");
    require_pointer(bytes, "gdn_prefill_workspace: bytes");
    require_heads(*args);
    *bytes = workspace_bytes(*device, *args);
  });
}

bmk_status gdn_prefill(bmk_stream* stream, const bmk_gdn_prefill_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "gdn_prefill");
    require_gdn_prefill(*stream->device, *args);
    if (args->sequences.num_sequences == 0) return;
    if (args->numerics != BMK_NUMERICS_DEFAULT)
      launch_f32(queue, *args);
    else if (has_wgmma(*stream->device))
      launch_bf16<GdnMatrixRecord, GdnStateWgmmaConfig>(stream, queue, *args, gdn_state_wgmma_kernel);
    else
      launch_bf16<GdnFragmentRecord, GdnStateMmaConfig>(stream, queue, *args, gdn_state_mma_kernel);
    check_launch("gdn_prefill");
  });
}

}  // namespace branchmark::cuda
