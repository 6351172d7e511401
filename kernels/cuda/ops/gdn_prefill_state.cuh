// The part of the bf16 gated delta rule that goes from chunk to chunk (formula and rounding:
// gdn_prefill.cu): the state, the corrected values and the output, from the records that
// gdn_prefill_prepare.cuh made.
//
// Everything is transposed, values × tokens and values × keys, so that the whole chain stays in the
// registers of one warp, which owns 16 value columns and shares nothing but the reads of the record with
// its neighbours:
//
//   (W S)ᵀ = Sᵀ Wᵀ      S, an accumulator, is rounded into the A operand
//   Vnᵀ = Uᵀ − (W S)ᵀ   an accumulator, rounded into the A operand of the next two
//   oᵀ = Sᵀ Qᵀ + Vnᵀ Pᵀ   over 128 keys, then over the tokens up to the row's own tile
//   Sᵀ = e^{c_end} Sᵀ + Vnᵀ K   over 64 tokens
//
// each in steps of 16, ascending. A block takes a fixed number of value columns of one head of one sequence
// and all its chunks in turn; columns do not enter one another's sums, so how many a block has touches no
// bit. The state is float32 in registers from the first chunk to the last, and is read and written as it
// is, so that a run which continues from a stored state has the bits of one that never stopped.
//
// Shared memory: W, Q and P of this chunk and the next, K of this one, which arrives while the others are
// used.
//
// Bound by the latency of a chunk with one sequence, by shared memory reads with many. Refused: 32 columns a
// warp, which halves those reads, but needs more registers than there are and was slower (H200, 8 × 1,024
// tokens: 135 us against 130).
#pragma once

#include "../ptx/cp_async.cuh"
#include "../ptx/matrix.cuh"
#include "../ptx/mma.cuh"
#include "gdn_prefill_chunk.cuh"
#include "sequences.cuh"

namespace branchmark::cuda {

struct GdnStateConfig {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarpThreads;
  static constexpr int kBlocksPerMultiprocessor = 2;
  static constexpr int kTokens = BMK_CHUNK_TOKENS;
  static constexpr int kDim = BMK_GDN_HEAD_DIM;
  static constexpr int kWarpValues = 16;
  static constexpr int kValues = kWarps * kWarpValues;
  static constexpr int kSlices = kDim / kValues;  // blocks that share a head
  // Fragments of W, Q and P, and of K.
  static constexpr int kFirstFragments = GdnChunkRecord::kK - GdnChunkRecord::kW;
  static constexpr int kSecondFragments = GdnChunkRecord::kU - GdnChunkRecord::kK;
  static constexpr int kFirstStages = 2;
  static constexpr int kSharedBytes =
      (kFirstStages * kFirstFragments + kSecondFragments) * GdnChunkRecord::kFragmentBytes;
};
static_assert(GdnStateConfig::kDim % GdnStateConfig::kValues == 0, "blocks share a head evenly");
static_assert(GdnStateConfig::kSharedBytes <= 99 * 1024, "every GPU since sm_80 has this much a block");

namespace gdn_state {

using Config = GdnStateConfig;
using Record = GdnChunkRecord;

// What one block works on.
struct Task {
  std::int64_t sequence;
  std::int64_t head;
  std::int64_t first_row;
  std::int64_t rows;
  std::int64_t first_chunk;
  int num_chunks;
  int value;  // the lane's first value column; the other is 8 further
};

// The lane's piece of Sᵀ: s[n] is the C fragment of its warp's values and keys 8n .. 8n + 7.
using State = float[2 * Record::kDimTiles][4];

// The lane's four elements of s[n] within a head's state [key, value].
__device__ __forceinline__ std::int64_t state_index(int n, int i, int value, int lane) {
  return (8 * n + lane % 4 * 2 + i % 2) * Config::kDim + value + i / 2 * 8;
}

__device__ __forceinline__ void load_state(State& s, const float* state, int value, int lane) {
#pragma unroll
  for (int n = 0; n < 2 * Record::kDimTiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) s[n][i] = state == nullptr ? 0.0f : state[state_index(n, i, value, lane)];
}

__device__ __forceinline__ void store_state(const State& s, float* state, int value, int lane) {
#pragma unroll
  for (int n = 0; n < 2 * Record::kDimTiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) state[state_index(n, i, value, lane)] = s[n][i];
}

// Queues the copy of `count` fragments from global memory, where they are one run, to shared memory.
__device__ __forceinline__ void load_fragments(uint4* to, const uint4* from, int count, int warp, int lane) {
#pragma unroll 4
  for (int fragment = warp; fragment < count; fragment += Config::kWarps) {
    const int i = fragment * kWarpThreads + lane;
    ptx::cp_async_16(ptx::shared_address(to + i), from + i);
  }
}

// Uᵀ less (W S)ᵀ of one token tile, its lower and higher eight tokens, rounded, as the A operand over them.
__device__ __forceinline__ void correct_values(std::uint32_t (&v_new)[4], const uint4& u,
                                               const float (&low)[4], const float (&high)[4]) {
  const std::uint32_t pairs[4] = {u.x, u.y, u.z, u.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 x = ptx::unpack_bf16(pairs[i]);
    const float(&removed)[4] = i < 2 ? low : high;
    v_new[i] = ptx::pack_bf16(x.x - removed[i % 2 * 2], x.y - removed[i % 2 * 2 + 1]);
  }
}

// Sᵀ rounded, as the A operand over its keys.
__device__ __forceinline__ void round_state(std::uint32_t (&operand)[Record::kDimTiles][4], const State& s) {
#pragma unroll
  for (int step = 0; step < Record::kDimTiles; ++step)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      operand[step][i] = ptx::pack_bf16(s[2 * step + i / 2][i % 2 * 2], s[2 * step + i / 2][i % 2 * 2 + 1]);
}

// Sᵀ times W or Q, transposed: sums[n] are tokens 8n .. 8n + 7. `matrix` is where W or Q begins.
__device__ __forceinline__ void multiply_state(float (&sums)[2 * Record::kTokenTiles][4],
                                               const std::uint32_t (&operand)[Record::kDimTiles][4],
                                               const uint4* matrix, int lane) {
#pragma unroll
  for (int n = 0; n < 2 * Record::kTokenTiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[n][i] = 0.0f;
#pragma unroll
  for (int step = 0; step < Record::kDimTiles; ++step)
#pragma unroll
    for (int tile = 0; tile < Record::kTokenTiles; ++tile) {
      const uint4 b = matrix[(tile * Record::kDimTiles + step) * kWarpThreads + lane];
      ptx::mma_m16n8k16(sums[2 * tile], operand[step], b.x, b.y);
      ptx::mma_m16n8k16(sums[2 * tile + 1], operand[step], b.z, b.w);
    }
}

// oᵀ += Vnᵀ Pᵀ. `scores` is where P begins.
__device__ __forceinline__ void add_scores(float (&o)[2 * Record::kTokenTiles][4],
                                           const std::uint32_t (&v_new)[Record::kTokenTiles][4],
                                           const uint4* scores, int lane) {
#pragma unroll
  for (int j = 0; j < Record::kTokenTiles; ++j)
#pragma unroll
    for (int i = j; i < Record::kTokenTiles; ++i) {
      const uint4 p = scores[(Record::p(i, j) - Record::kP) * kWarpThreads + lane];
      ptx::mma_m16n8k16(o[2 * i], v_new[j], p.x, p.y);
      ptx::mma_m16n8k16(o[2 * i + 1], v_new[j], p.z, p.w);
    }
}

// Sᵀ = e^{c_end} Sᵀ + Vnᵀ K. `keys` is where K begins.
__device__ __forceinline__ void advance_state(State& s, float log_decay,
                                              const std::uint32_t (&v_new)[Record::kTokenTiles][4],
                                              const uint4* keys, int lane) {
  const float decay = expf(log_decay);
#pragma unroll
  for (int n = 0; n < 2 * Record::kDimTiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) s[n][i] *= decay;
#pragma unroll
  for (int step = 0; step < Record::kTokenTiles; ++step)
#pragma unroll
    for (int n = 0; n < Record::kDimTiles; ++n) {
      const uint4 k = keys[(Record::k(step, n) - Record::kK) * kWarpThreads + lane];
      ptx::mma_m16n8k16(s[2 * n], v_new[step], k.x, k.y);
      ptx::mma_m16n8k16(s[2 * n + 1], v_new[step], k.z, k.w);
    }
}

// Turns oᵀ back and stores the tokens that exist. `out` is the chunk's first row at the warp's first value.
__device__ __forceinline__ void store_output(const float (&o)[2 * Record::kTokenTiles][4], __nv_bfloat16* out,
                                             std::int64_t row_stride, int rows, int lane) {
#pragma unroll
  for (int n = 0; n < 2 * Record::kTokenTiles; ++n) {
    const std::uint32_t low = ptx::transpose_8x8(ptx::pack_bf16(o[n][0], o[n][1]));
    const std::uint32_t high = ptx::transpose_8x8(ptx::pack_bf16(o[n][2], o[n][3]));
    const int token = 8 * n + lane / 4;
    if (token < rows) {
      __nv_bfloat16* const at = out + token * row_stride + lane % 4 * 2;
      *reinterpret_cast<std::uint32_t*>(at) = low;
      *reinterpret_cast<std::uint32_t*>(at + 8) = high;
    }
  }
}

__device__ __forceinline__ Task find_task(const bmk_gdn_prefill_args& args, int warp, int lane) {
  const unsigned slice = blockIdx.x % Config::kSlices;
  const unsigned item = blockIdx.x / Config::kSlices;
  Task task;
  task.sequence = item / static_cast<unsigned>(args.value_heads);
  task.head = item % static_cast<unsigned>(args.value_heads);
  task.first_row = args.sequences.row_offsets[task.sequence];
  task.rows = args.sequences.row_offsets[task.sequence + 1] - task.first_row;
  task.first_chunk = args.sequences.chunk_offsets[task.sequence];
  task.num_chunks = static_cast<int>(args.sequences.chunk_offsets[task.sequence + 1] - task.first_chunk);
  task.value = static_cast<int>(slice) * Config::kValues + warp * Config::kWarpValues + lane / 4;
  return task;
}

}  // namespace gdn_state

// One block for each (sequence, value head, slice of values).
__global__ void __launch_bounds__(GdnStateConfig::kThreads, GdnStateConfig::kBlocksPerMultiprocessor)
    gdn_state_kernel(const __grid_constant__ bmk_gdn_prefill_args args, const GdnWorkspace workspace) {
  using namespace gdn_state;
  extern __shared__ __align__(128) unsigned char shared[];
  uint4* const first_stages = reinterpret_cast<uint4*>(shared);
  uint4* const second = first_stages + Config::kFirstStages * Config::kFirstFragments * kWarpThreads;
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
  const Task task = find_task(args, warp, lane);

  const auto record_of = [&](int chunk) { return (task.first_chunk + chunk) * args.value_heads + task.head; };
  const auto stage_of = [&](int chunk) {
    return first_stages + chunk % Config::kFirstStages * Config::kFirstFragments * kWarpThreads;
  };
  const auto is_whole = [&](int chunk) {
    return task.rows - static_cast<std::int64_t>(chunk) * Config::kTokens >= Config::kTokens;
  };
  // Past the last chunk the group is empty, so that the number of groups behind one is always the same.
  const auto load_first = [&](int chunk) {
    if (chunk < task.num_chunks)
      load_fragments(stage_of(chunk), workspace.fragment(record_of(chunk), Record::kW, 0),
                     Config::kFirstFragments, warp, lane);
    ptx::cp_async_commit();
  };
  // No state is read inside a chunk, so that of an incomplete one, the sequence's last, is not needed, nor
  // its K.
  const auto load_second = [&](int chunk) {
    if (is_whole(chunk))
      load_fragments(second, workspace.fragment(record_of(chunk), Record::kK, 0), Config::kSecondFragments,
                     warp, lane);
    ptx::cp_async_commit();
  };
  uint4 u[Record::kTokenTiles];
  float log_decay = 0.0f;
  const auto load_own = [&](int chunk) {
    if (chunk >= task.num_chunks) return;
#pragma unroll
    for (int tile = 0; tile < Record::kTokenTiles; ++tile)
      u[tile] = *workspace.fragment(record_of(chunk), Record::u(task.value / 16, tile), lane);
    log_decay = workspace.log_decay[record_of(chunk)];
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
    std::uint32_t operand[Record::kDimTiles][4];
    round_state(operand, s);
    float removed[2 * Record::kTokenTiles][4];
    multiply_state(removed, operand, first + Record::kW * kWarpThreads, lane);
    std::uint32_t v_new[Record::kTokenTiles][4];
#pragma unroll
    for (int tile = 0; tile < Record::kTokenTiles; ++tile)
      correct_values(v_new[tile], u[tile], removed[2 * tile], removed[2 * tile + 1]);
    float o[2 * Record::kTokenTiles][4];
    multiply_state(o, operand, first + Record::kQ * kWarpThreads, lane);
    add_scores(o, v_new, first + Record::kP * kWarpThreads, lane);
    const std::int64_t left = task.rows - row;
    store_output(o,
                 static_cast<__nv_bfloat16*>(args.out.data) + (task.first_row + row) * args.out.row_stride +
                     task.head * Config::kDim + task.value - lane / 4,
                 args.out.row_stride, left < Config::kTokens ? static_cast<int>(left) : Config::kTokens,
                 lane);
    const float chunk_log_decay = log_decay;
    load_own(chunk + 1);
    __syncthreads();  // every warp is done with W, Q and P
    load_first(chunk + 2);
    ptx::cp_async_wait<1>();  // K of this chunk
    __syncthreads();
    if (is_whole(chunk)) advance_state(s, chunk_log_decay, v_new, second, lane);
    __syncthreads();  // every warp is done with K
    load_second(chunk + 1);
  }
}

}  // namespace branchmark::cuda
