// What the two kernels share that take the gated delta rule from chunk to chunk: who owns which values of
// which head, and what the lanes of a warp do with the state and the accumulators that they hold.
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
// each in steps of 16, ascending. A block takes 64 value columns of one head of one sequence and all its
// chunks in turn; columns do not enter one another's sums. The state is float32 in registers from the first
// chunk to the last, and is read and written as it is, so that a run which continues from a stored state has
// the bits of one that never stopped.
#pragma once

#include "../ptx/matrix.cuh"
#include "../ptx/mma.cuh"
#include "gdn_prefill_chunk.cuh"
#include "sequences.cuh"

namespace branchmark::cuda {

struct GdnStateConfig {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarpThreads;
  static constexpr int kTokens = BMK_CHUNK_TOKENS;
  static constexpr int kDim = BMK_GDN_HEAD_DIM;
  static constexpr int kWarpValues = 16;
  static constexpr int kValues = kWarps * kWarpValues;
  static constexpr int kSlices = kDim / kValues;  // blocks that share a head
};
static_assert(GdnStateConfig::kDim % GdnStateConfig::kValues == 0, "blocks share a head evenly");

namespace gdn_state {

// What one block works on.
struct Task {
  std::int64_t sequence;
  std::int64_t head;
  std::int64_t first_row;
  std::int64_t rows;
  std::int64_t first_chunk;
  int num_chunks;
  int value;  // the lane's first value column; the other is 8 further

  // No state is read inside a chunk, so that of an incomplete one, the sequence's last, is not needed, nor
  // its K.
  __device__ __forceinline__ bool is_whole(int chunk) const {
    return rows - static_cast<std::int64_t>(chunk) * GdnStateConfig::kTokens >= GdnStateConfig::kTokens;
  }
  // The chunk's index in the workspace.
  __device__ __forceinline__ std::int64_t record_of(int chunk, std::int64_t value_heads) const {
    return (first_chunk + chunk) * value_heads + head;
  }
};

__device__ __forceinline__ Task find_task(const bmk_gdn_prefill_args& args, int warp, int lane) {
  const unsigned slice = blockIdx.x % GdnStateConfig::kSlices;
  const unsigned item = blockIdx.x / GdnStateConfig::kSlices;
  Task task;
  task.sequence = item / static_cast<unsigned>(args.value_heads);
  task.head = item % static_cast<unsigned>(args.value_heads);
  task.first_row = args.sequences.row_offsets[task.sequence];
  task.rows = args.sequences.row_offsets[task.sequence + 1] - task.first_row;
  task.first_chunk = args.sequences.chunk_offsets[task.sequence];
  task.num_chunks = static_cast<int>(args.sequences.chunk_offsets[task.sequence + 1] - task.first_chunk);
  task.value =
      static_cast<int>(slice) * GdnStateConfig::kValues + warp * GdnStateConfig::kWarpValues + lane / 4;
  return task;
}

// The lane's piece of Sᵀ: s[n] is the C fragment of its warp's values and keys 8n .. 8n + 7.
using State = float[2 * kGdnDimTiles][4];

// The lane's four elements of s[n] within a head's state [key, value].
__device__ __forceinline__ std::int64_t state_index(int n, int i, int value, int lane) {
  return (8 * n + lane % 4 * 2 + i % 2) * GdnStateConfig::kDim + value + i / 2 * 8;
}

__device__ __forceinline__ void load_state(State& s, const float* state, int value, int lane) {
#pragma unroll
  for (int n = 0; n < 2 * kGdnDimTiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) s[n][i] = state == nullptr ? 0.0f : state[state_index(n, i, value, lane)];
}

__device__ __forceinline__ void store_state(const State& s, float* state, int value, int lane) {
#pragma unroll
  for (int n = 0; n < 2 * kGdnDimTiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) state[state_index(n, i, value, lane)] = s[n][i];
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
__device__ __forceinline__ void round_state(std::uint32_t (&operand)[kGdnDimTiles][4], const State& s) {
#pragma unroll
  for (int step = 0; step < kGdnDimTiles; ++step)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      operand[step][i] = ptx::pack_bf16(s[2 * step + i / 2][i % 2 * 2], s[2 * step + i / 2][i % 2 * 2 + 1]);
}

// oᵀ rounded: [n][0] and [n][1] are tokens 8n .. 8n + 7 of the lane's two values.
using Output = std::uint32_t[2 * kGdnTokenTiles][2];

__device__ __forceinline__ void round_output(Output& out, const float (&o)[2 * kGdnTokenTiles][4]) {
#pragma unroll
  for (int n = 0; n < 2 * kGdnTokenTiles; ++n)
#pragma unroll
    for (int half = 0; half < 2; ++half) out[n][half] = ptx::pack_bf16(o[n][2 * half], o[n][2 * half + 1]);
}

// Turns oᵀ back and stores the tokens of a chunk that exist.
__device__ __forceinline__ void store_output(const Output& o, const bmk_gdn_prefill_args& args,
                                             const Task& task, int chunk, int lane) {
  const std::int64_t first = static_cast<std::int64_t>(chunk) * GdnStateConfig::kTokens;
  const std::int64_t left = task.rows - first;
  __nv_bfloat16* const out = static_cast<__nv_bfloat16*>(args.out.data) +
                             (task.first_row + first) * args.out.row_stride +
                             task.head * GdnStateConfig::kDim + task.value - lane / 4 + lane % 4 * 2;
#pragma unroll
  for (int n = 0; n < 2 * kGdnTokenTiles; ++n) {
    const std::uint32_t low = ptx::transpose_8x8(o[n][0]);
    const std::uint32_t high = ptx::transpose_8x8(o[n][1]);
    const int token = 8 * n + lane / 4;
    if (token < left) {
      __nv_bfloat16* const at = out + token * args.out.row_stride;
      *reinterpret_cast<std::uint32_t*>(at) = low;
      *reinterpret_cast<std::uint32_t*>(at + 8) = high;
    }
  }
}

}  // namespace gdn_state
}  // namespace branchmark::cuda
