// The part of the bf16 gated delta rule that goes from chunk to chunk, on mma.sync (formula and rounding:
// gdn_prefill.cu; the chain: gdn_prefill_state.cuh): the state, the corrected values and the output, from the
// records of fragments that gdn_prefill_prepare.cuh made.
//
// Shared memory: W, Q and P of this chunk and the next, K of this one, which arrives while the others are
// used.
//
// Bound by the latency of a chunk with one sequence, by shared memory reads with many. Refused: 32 columns a
// warp, which halves those reads, but needs more registers than there are and was slower (H200, 8 × 1,024
// tokens: 135 us against 130).
#pragma once

#include "../ptx/cp_async.cuh"
#include "gdn_prefill_state.cuh"

namespace branchmark::cuda {

struct GdnStateMmaConfig : GdnStateConfig {
  static constexpr int kBlocksPerMultiprocessor = 2;
  // Fragments of W, Q and P, and of K.
  static constexpr int kFirstFragments = GdnFragmentRecord::kK - GdnFragmentRecord::kW;
  static constexpr int kSecondFragments = GdnFragmentRecord::kU - GdnFragmentRecord::kK;
  static constexpr int kFirstStages = 2;
  static constexpr int kSharedBytes = (kFirstStages * kFirstFragments + kSecondFragments) * kGdnFragmentBytes;
};
static_assert(GdnStateMmaConfig::kSharedBytes <= 99 * 1024, "every GPU since sm_80 has this much a block");

namespace gdn_state_mma {

using gdn_state::correct_values;
using gdn_state::find_task;
using gdn_state::load_state;
using gdn_state::Output;
using gdn_state::round_output;
using gdn_state::round_state;
using gdn_state::State;
using gdn_state::store_output;
using gdn_state::store_state;
using gdn_state::Task;
using Config = GdnStateMmaConfig;
using Record = GdnFragmentRecord;

// Queues the copy of `count` fragments from global memory, where they are one run, to shared memory.
__device__ __forceinline__ void load_fragments(uint4* to, const uint4* from, int count, int warp, int lane) {
#pragma unroll 4
  for (int fragment = warp; fragment < count; fragment += Config::kWarps) {
    const int i = fragment * kWarpThreads + lane;
    ptx::cp_async_16(ptx::shared_address(to + i), from + i);
  }
}

// Sᵀ times W or Q, transposed: sums[n] are tokens 8n .. 8n + 7. `matrix` is where W or Q begins.
__device__ __forceinline__ void multiply_state(float (&sums)[2 * kGdnTokenTiles][4],
                                               const std::uint32_t (&operand)[kGdnDimTiles][4],
                                               const uint4* matrix, int lane) {
#pragma unroll
  for (int n = 0; n < 2 * kGdnTokenTiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[n][i] = 0.0f;
#pragma unroll
  for (int step = 0; step < kGdnDimTiles; ++step)
#pragma unroll
    for (int tile = 0; tile < kGdnTokenTiles; ++tile) {
      const uint4 b = matrix[(tile * kGdnDimTiles + step) * kWarpThreads + lane];
      ptx::mma_m16n8k16(sums[2 * tile], operand[step], b.x, b.y);
      ptx::mma_m16n8k16(sums[2 * tile + 1], operand[step], b.z, b.w);
    }
}

// oᵀ += Vnᵀ Pᵀ. `scores` is where P begins.
__device__ __forceinline__ void add_scores(float (&o)[2 * kGdnTokenTiles][4],
                                           const std::uint32_t (&v_new)[kGdnTokenTiles][4],
                                           const uint4* scores, int lane) {
#pragma unroll
  for (int j = 0; j < kGdnTokenTiles; ++j)
#pragma unroll
    for (int i = j; i < kGdnTokenTiles; ++i) {
      const uint4 p = scores[(Record::p(i, j) - Record::kP) * kWarpThreads + lane];
      ptx::mma_m16n8k16(o[2 * i], v_new[j], p.x, p.y);
      ptx::mma_m16n8k16(o[2 * i + 1], v_new[j], p.z, p.w);
    }
}

// Sᵀ = e^{c_end} Sᵀ + Vnᵀ K. `keys` is where K begins.
__device__ __forceinline__ void advance_state(State& s, float log_decay,
                                              const std::uint32_t (&v_new)[kGdnTokenTiles][4],
                                              const uint4* keys, int lane) {
  const float decay = expf(log_decay);
#pragma unroll
  for (int n = 0; n < 2 * kGdnDimTiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) s[n][i] *= decay;
#pragma unroll
  for (int step = 0; step < kGdnTokenTiles; ++step)
#pragma unroll
    for (int n = 0; n < kGdnDimTiles; ++n) {
      const uint4 k = keys[(Record::k(step, n) - Record::kK) * kWarpThreads + lane];
      ptx::mma_m16n8k16(s[2 * n], v_new[step], k.x, k.y);
      ptx::mma_m16n8k16(s[2 * n + 1], v_new[step], k.z, k.w);
    }
}

}  // namespace gdn_state_mma

// One block for each (sequence, value head, slice of values).
__global__ void __launch_bounds__(GdnStateMmaConfig::kThreads, GdnStateMmaConfig::kBlocksPerMultiprocessor)
    gdn_state_mma_kernel(const __grid_constant__ bmk_gdn_prefill_args args,
                         const GdnWorkspace<GdnFragmentRecord> workspace) {
  using namespace gdn_state_mma;
  extern __shared__ __align__(128) unsigned char shared[];
  uint4* const first_stages = reinterpret_cast<uint4*>(shared);
  uint4* const second = first_stages + Config::kFirstStages * Config::kFirstFragments * kWarpThreads;
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
  const Task task = find_task(args, warp, lane);

  const auto fragment = [&](int chunk, int index, int of_lane) {
    return Record::at(workspace.record(task.record_of(chunk, args.value_heads)), index, of_lane);
  };
  const auto stage_of = [&](int chunk) {
    return first_stages + chunk % Config::kFirstStages * Config::kFirstFragments * kWarpThreads;
  };
  // Past the last chunk the group is empty, so that the number of groups behind one is always the same.
  const auto load_first = [&](int chunk) {
    if (chunk < task.num_chunks)
      load_fragments(stage_of(chunk), fragment(chunk, Record::kW, 0), Config::kFirstFragments, warp, lane);
    ptx::cp_async_commit();
  };
  const auto load_second = [&](int chunk) {
    if (task.is_whole(chunk))
      load_fragments(second, fragment(chunk, Record::kK, 0), Config::kSecondFragments, warp, lane);
    ptx::cp_async_commit();
  };
  uint4 u[kGdnTokenTiles];
  float log_decay = 0.0f;
  const auto load_own = [&](int chunk) {
    if (chunk >= task.num_chunks) return;
#pragma unroll
    for (int tile = 0; tile < kGdnTokenTiles; ++tile)
      u[tile] = *fragment(chunk, Record::u(task.value / 16, tile), lane);
    log_decay = workspace.log_decay[task.record_of(chunk, args.value_heads)];
  };

  load_first(0);
  load_second(0);
  load_first(1);
  load_own(0);
  State s;
  const std::int64_t state_offset = task.head * Config::kDim * Config::kDim;
  const float* const state_in = args.state_in[task.sequence];
  float* const state_out = args.state_out[task.sequence];
  const std::int64_t state_at = state_out == nullptr ? -1 : args.state_at[task.sequence];
  load_state(s, state_in == nullptr ? nullptr : state_in + state_offset, task.value, lane);

  for (int chunk = 0;; ++chunk) {
    const std::int64_t row = static_cast<std::int64_t>(chunk) * Config::kTokens;
    if (row == state_at) store_state(s, state_out + state_offset, task.value, lane);
    if (chunk == task.num_chunks) return;
    const uint4* const first = stage_of(chunk);
    ptx::cp_async_wait<2>();  // W, Q and P of this chunk; K of it and the next chunk's may be on their way
    __syncthreads();
    std::uint32_t operand[kGdnDimTiles][4];
    round_state(operand, s);
    float removed[2 * kGdnTokenTiles][4];
    multiply_state(removed, operand, first + Record::kW * kWarpThreads, lane);
    std::uint32_t v_new[kGdnTokenTiles][4];
#pragma unroll
    for (int tile = 0; tile < kGdnTokenTiles; ++tile)
      correct_values(v_new[tile], u[tile], removed[2 * tile], removed[2 * tile + 1]);
    float o[2 * kGdnTokenTiles][4];
    multiply_state(o, operand, first + Record::kQ * kWarpThreads, lane);
    add_scores(o, v_new, first + Record::kP * kWarpThreads, lane);
    Output output;
    round_output(output, o);
    store_output(output, args, task, chunk, lane);
    const float chunk_log_decay = log_decay;
    load_own(chunk + 1);
    __syncthreads();  // every warp is done with W, Q and P
    load_first(chunk + 2);
    ptx::cp_async_wait<1>();  // K of this chunk
    __syncthreads();
    if (task.is_whole(chunk)) advance_state(s, chunk_log_decay, v_new, second, lane);
    __syncthreads();  // every warp is done with K
    load_second(chunk + 1);
  }
}

}  // namespace branchmark::cuda
