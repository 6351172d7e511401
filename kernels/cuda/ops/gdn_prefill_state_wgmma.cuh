// The part of the bf16 gated delta rule that goes from chunk to chunk, on wgmma, sm_90a only (formula and
// rounding: gdn_prefill.cu; the chain: gdn_prefill_state.cuh): the state, the corrected values and the
// output, from the records of matrices that gdn_prefill_prepare.cuh made.
//
// The warp group's 64 values are the rows of the instruction, A stands in registers, W, Q, P and K in shared
// memory, where the copy engine brings those of the next chunk meanwhile. Only W, the correction and K lie on
// the way from a state to the next; Q and P fill the tensor cores' pauses, and the output of a chunk is
// stored during the products of the next.
//
// Bound by the latency of a chunk with one sequence, by reading records with many. Refused: four stages and
// one block a multiprocessor (H200, 8 × 1,024 tokens: 133 us against 101, and no faster with one sequence);
// W and Q as one product, which the compiler serialises.
#pragma once

#include "../ptx/bulk_copy.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/wgmma.cuh"
#include "gdn_prefill_state.cuh"

namespace branchmark::cuda {

struct GdnStateWgmmaConfig : GdnStateConfig {
  static constexpr int kBlocksPerMultiprocessor = 2;
  static constexpr int kStages = 2;
  static constexpr int kStageBytes = GdnMatrixRecord::kU;  // W, Q, P and K
  static constexpr int kBarrierBytes = 8;
  static constexpr int kSharedBytes = kStages * (kStageBytes + kBarrierBytes);
};
static_assert(GdnStateWgmmaConfig::kBlocksPerMultiprocessor * (GdnStateWgmmaConfig::kSharedBytes + 1024) <=
                  228 * 1024,
              "as many blocks fit a multiprocessor of sm_90; each takes 1 KiB more than it asks for");

namespace gdn_state_wgmma {

using Config = GdnStateWgmmaConfig;
using Record = GdnMatrixRecord;
using gdn_state::Output;
using gdn_state::State;
using gdn_state::Task;
using StateOperand = std::uint32_t[kGdnDimTiles][4];
using ValueOperand = std::uint32_t[kGdnTokenTiles][4];
// Over the chunk's tokens: [n] are tokens 8n .. 8n + 7.
using Sums = float[2 * kGdnTokenTiles][4];

// The same registers as the instruction names them.
template <typename Fragments>
__device__ __forceinline__ auto& flat(Fragments& fragments) {
  return reinterpret_cast<float(&)[sizeof(Fragments) / sizeof(float)]>(fragments);
}

__device__ __forceinline__ std::uint64_t step_descriptor(std::uint32_t matrix, int step, int step_bytes) {
  return ptx::wgmma_matrices_descriptor(matrix + static_cast<std::uint32_t>(step * step_bytes),
                                        Record::kMatrixBytes, 2 * Record::kMatrixBytes);
}

// Starts sums = Sᵀ times W or Q transposed, onto nothing and behind a fence. `matrix` is where W or Q begins.
__device__ __forceinline__ void start_state_product(Sums& sums, const StateOperand& state,
                                                    std::uint32_t matrix) {
  constexpr int kStepBytes = 2 * Record::kTokenTilesBytes;
  ptx::wgmma_k16_first<ptx::WgmmaB::kByColumns>(flat(sums), state[0], step_descriptor(matrix, 0, kStepBytes));
#pragma unroll
  for (int step = 1; step < kGdnDimTiles; ++step)
    ptx::wgmma_k16<ptx::WgmmaB::kByColumns>(flat(sums), state[step],
                                            step_descriptor(matrix, step, kStepBytes));
  ptx::wgmma_commit();
}

// Starts Sᵀ += Vnᵀ K, then oᵀ += Vnᵀ Pᵀ.
__device__ __forceinline__ void start_value_products(State& s, Sums& o, const ValueOperand& v_new,
                                                     std::uint32_t stage) {
  ptx::hold_sums(flat(s));
  ptx::hold_sums(flat(o));
  ptx::wgmma_fence();
#pragma unroll
  for (int step = 0; step < kGdnTokenTiles; ++step)
    ptx::wgmma_k16<ptx::WgmmaB::kByRows>(flat(s), v_new[step],
                                         step_descriptor(stage + Record::kK, step, Record::kKeyTilesBytes));
#pragma unroll
  for (int step = 0; step < kGdnTokenTiles; ++step)
    ptx::wgmma_k16<ptx::WgmmaB::kByColumns>(
        flat(o), v_new[step], step_descriptor(stage + Record::kP, step, Record::kTokenTilesBytes));
  ptx::wgmma_commit();
}

}  // namespace gdn_state_wgmma

// One block for each (sequence, value head, slice of values).
__global__ void __launch_bounds__(GdnStateWgmmaConfig::kThreads,
                                  GdnStateWgmmaConfig::kBlocksPerMultiprocessor)
    gdn_state_wgmma_kernel(const __grid_constant__ bmk_gdn_prefill_args args,
                           const GdnWorkspace<GdnMatrixRecord> workspace) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using namespace gdn_state_wgmma;
  extern __shared__ __align__(128) unsigned char shared[];  // the stages, then their barriers
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
  const Task task = gdn_state::find_task(args, warp, lane);
  const std::uint32_t stages = ptx::shared_address(shared);
  const std::uint32_t full = stages + Config::kStages * Config::kStageBytes;
  const auto stage_of = [&](int chunk) {
    return stages + static_cast<std::uint32_t>(chunk % Config::kStages * Config::kStageBytes);
  };
  const auto full_of = [&](int chunk) {
    return full + static_cast<std::uint32_t>(chunk % Config::kStages * Config::kBarrierBytes);
  };
  const auto record_of = [&](int chunk) { return workspace.record(task.record_of(chunk, args.value_heads)); };
  // By one thread, when all warps are done with what the stage had before.
  const auto load = [&](int chunk) {
    if (chunk >= task.num_chunks) return;
    const unsigned bytes = task.is_whole(chunk) ? Record::kU : Record::kK;
    ptx::mbarrier_arrive_expect(full_of(chunk), bytes);
    ptx::bulk_copy(stage_of(chunk), record_of(chunk), bytes, full_of(chunk));
  };
  uint4 u[kGdnTokenTiles];
  float log_decay = 0.0f;
  const auto load_own = [&](int chunk) {
    if (chunk >= task.num_chunks) return;
#pragma unroll
    for (int tile = 0; tile < kGdnTokenTiles; ++tile)
      u[tile] = *Record::u(record_of(chunk), task.value / 16, tile, lane);
    log_decay = workspace.log_decay[task.record_of(chunk, args.value_heads)];
  };

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Config::kStages; ++stage) ptx::mbarrier_init(full_of(stage), 1);
    ptx::mbarrier_init_fence();
    for (int chunk = 0; chunk < Config::kStages; ++chunk) load(chunk);
  }
  load_own(0);
  State s;
  const std::int64_t state_offset = task.head * Config::kDim * Config::kDim;
  const float* const state_in = args.state_in[task.sequence];
  float* const state_out = args.state_out[task.sequence];
  const std::int64_t state_at = state_out == nullptr ? -1 : args.state_at[task.sequence];
  gdn_state::load_state(s, state_in == nullptr ? nullptr : state_in + state_offset, task.value, lane);
  __syncthreads();  // the barriers are there

  Output output;
  for (int chunk = 0;; ++chunk) {
    if (static_cast<std::int64_t>(chunk) * Config::kTokens == state_at)
      gdn_state::store_state(s, state_out + state_offset, task.value, lane);
    if (chunk == task.num_chunks) break;
    StateOperand operand;
    gdn_state::round_state(operand, s);
    const float decay = expf(log_decay);
#pragma unroll
    for (float& x : flat(s)) x *= decay;
    const std::uint32_t stage = stage_of(chunk);
    ptx::mbarrier_wait(full_of(chunk), static_cast<unsigned>(chunk / Config::kStages % 2));
    ptx::wgmma_fence();
    Sums removed;
    start_state_product(removed, operand, stage + Record::kW);
    Sums o;
    start_state_product(o, operand, stage + Record::kQ);
    if (chunk > 0) gdn_state::store_output(output, args, task, chunk - 1, lane);
    ptx::wgmma_wait<1>();  // W S
    ptx::hold_sums(flat(removed));
    ValueOperand v_new;
#pragma unroll
    for (int tile = 0; tile < kGdnTokenTiles; ++tile)
      gdn_state::correct_values(v_new[tile], u[tile], removed[2 * tile], removed[2 * tile + 1]);
    load_own(chunk + 1);
    // Of an incomplete chunk, the last one, K is not there, and nobody asks for the state any more.
    start_value_products(s, o, v_new, stage);
    ptx::wgmma_wait<0>();
    ptx::hold_sums(flat(s));
    ptx::hold_sums(flat(o));
    gdn_state::round_output(output, o);
    __syncthreads();  // every warp is done with the stage
    if (threadIdx.x == 0) load(chunk + Config::kStages);
  }
  if (task.num_chunks > 0) gdn_state::store_output(output, args, task, task.num_chunks - 1, lane);
#endif
}

}  // namespace branchmark::cuda
