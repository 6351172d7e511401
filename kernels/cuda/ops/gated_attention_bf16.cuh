// Gated attention of bf16 activations on mma.sync (formula and rounding: gated_attention.cu).
//
// A block takes 64 query rows of one chunk of 64 tokens: (token, query head) pairs, token-major, of the
// heads that read one kv head, so that a key tile is loaded once for all of them. The chunk is anchored at
// the prompt's start; all rows of a block therefore see the same key tiles, 0 .. the chunk's own, and only
// in that last tile something is masked. A warp takes 16 rows:
//
//   S = Q Kᵀ     [16 × 64]   16 steps of k 16, ascending
//   p = exp(s − running max), rounded as the A operand without leaving the registers
//   O = O · factor + P V     [16 × 256]   4 steps of k 16, ascending, for each tile in order of position
//
// A row's bits do not depend on its place: every row of an mma is summed alike, and number, order and size
// of the tiles follow from the row's position. Skipping the rescaling of a warp whose factors are all 1
// changes no bit. Of the last tile a warp passes over the steps of V that all of its rows mask. (Within 16
// keys a masked value is multiplied by 0, so that one that is not finite can reach up to 15 tokens before
// it.)
//
// Shared memory: Q, K and V tiles of [64 × 256] bf16. K of the next tile is loaded beside the product with
// V, V beside the product with K. The output is turned through the warp's own rows of the Q tile.
//
// Bound by shared memory reads: a warp reads a whole key tile for 16 rows.
#pragma once

#include "../ptx/cp_async.cuh"
#include "../ptx/exp2.cuh"
#include "../ptx/mma.cuh"
#include "sequences.cuh"
#include "swizzled_tile.cuh"

namespace branchmark::cuda {

struct GatedAttentionBf16Config {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarpThreads;
  static constexpr int kBlocksPerMultiprocessor = 2;  // one block's softmax hides behind the other's products
  static constexpr int kWarpRows = 16;
  static constexpr int kQueryRows = kWarps * kWarpRows;
  static constexpr int kKeys = BMK_CHUNK_TOKENS;
  static constexpr int kDim = BMK_ATTENTION_HEAD_DIM;
  static constexpr int kRowBytes = kDim * 2;
  static constexpr int kTileBytes = kKeys * kRowBytes;
  static constexpr int kSharedBytes = 3 * kTileBytes;
  // exp(x / 16) = 2^(x · kLog2Scale)
  static constexpr float kLog2Scale = 1.44269504088896340736f / 16.0f;
};
static_assert(GatedAttentionBf16Config::kQueryRows == GatedAttentionBf16Config::kKeys,
              "query, key and value tiles share one size");
static_assert(BMK_CHUNK_TOKENS % GatedAttentionBf16Config::kKeys == 0, "a key tile lies in one segment");
static_assert(GatedAttentionBf16Config::kRowBytes == kWarpThreads * 16, "a warp loads a row at once");

namespace gated_attention_bf16 {

using Config = GatedAttentionBf16Config;
using Tile = SwizzledTile<Config::kRowBytes>;

// The segment that the current key tile lies in. `keys` and `values` point to where the row of position 0
// would be.
struct Segment {
  const __nv_bfloat16* keys;
  const __nv_bfloat16* values;
  int end;  // first position past it
  int index;
};

__device__ __forceinline__ Segment load_segment(const bmk_gated_attention_args& args, int index,
                                                int kv_head) {
  const std::int64_t first = args.segment_first_position[index];
  const std::int64_t shift =
      static_cast<std::int64_t>(kv_head) * Config::kDim - first * args.kv_heads * Config::kDim;
  return {static_cast<const __nv_bfloat16*>(args.segment_keys[index]) + shift,
          static_cast<const __nv_bfloat16*>(args.segment_values[index]) + shift,
          static_cast<int>(first + args.segment_length[index]), index};
}

// Queues the copy of 64 rows into a tile; rows from `num_rows` on become zeros.
__device__ __forceinline__ void load_tile(std::uint32_t tile, const __nv_bfloat16* rows,
                                          std::int64_t row_stride, int num_rows, int warp, int lane) {
#pragma unroll
  for (int i = 0; i < Config::kKeys / Config::kWarps; ++i) {
    const int row = i * Config::kWarps + warp;
    ptx::cp_async_16_or_zeros(tile + Tile::offset(row, lane), rows + row * row_stride + lane * kVector,
                              row < num_rows);
  }
}

// Where a (token, head) pair of the block's chunk lies.
struct Pair {
  std::int64_t row;
  std::int64_t head;
};

__device__ __forceinline__ Pair locate(const ChunkPlace& chunk, unsigned pair, unsigned group, int kv_head) {
  return {chunk.first_row + pair / group, static_cast<std::int64_t>(kv_head) * group + pair % group};
}

// S = Q Kᵀ for the warp's 16 rows: s[n] are the scores of keys 8n .. 8n + 7.
__device__ __forceinline__ void multiply_keys(float (&s)[8][4], std::uint32_t q_tile, std::uint32_t k_tile,
                                              int warp, int lane) {
  const Tile::Blocks q_blocks = Tile::Blocks::rows_first(q_tile, lane);
  const Tile::Blocks k_blocks = Tile::Blocks::columns_first(k_tile, lane);
#pragma unroll
  for (int n = 0; n < 8; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) s[n][i] = 0.0f;
#pragma unroll
  for (int step = 0; step < Config::kDim / 16; ++step) {
    std::uint32_t q[4];
    ptx::ldmatrix_x4(q, q_blocks.address(warp * Config::kWarpRows, step));
#pragma unroll
    for (int n = 0; n < 8; n += 2) {
      std::uint32_t k[4];
      ptx::ldmatrix_x4(k, k_blocks.address(8 * n, step));
      ptx::mma_m16n8k16(s[n], q, k[0], k[1]);
      ptx::mma_m16n8k16(s[n + 1], q, k[2], k[3]);
    }
  }
}

// O += P V over the first `num_steps` times 16 keys: o[n] are dims 8n .. 8n + 7. p[n] as s[n], not yet
// rounded.
__device__ __forceinline__ void multiply_values(float (&o)[32][4], const float (&p)[8][4],
                                                std::uint32_t v_tile, int num_steps, int lane) {
  const Tile::Blocks blocks = Tile::Blocks::rows_first(v_tile, lane);
#pragma unroll
  for (int step = 0; step < Config::kKeys / 16; ++step) {
    if (step >= num_steps) continue;
    const std::uint32_t a[4] = {ptx::pack_bf16(p[2 * step][0], p[2 * step][1]),
                                ptx::pack_bf16(p[2 * step][2], p[2 * step][3]),
                                ptx::pack_bf16(p[2 * step + 1][0], p[2 * step + 1][1]),
                                ptx::pack_bf16(p[2 * step + 1][2], p[2 * step + 1][3])};
#pragma unroll
    for (int n = 0; n < 32; n += 2) {
      std::uint32_t v[4];
      ptx::ldmatrix_x4_trans(v, blocks.address(16 * step, n / 2));
      ptx::mma_m16n8k16(o[n], a, v[0], v[1]);
      ptx::mma_m16n8k16(o[n + 1], a, v[2], v[3]);
    }
  }
}

// Turns scores into probabilities in place, and brings the running maximum, the denominator and O to the
// new maximum. Index r of maximum and denominator: rows g and g + 8 of the warp. A lane's denominator
// covers its own columns; the four lanes of a row add up at the end.
__device__ __forceinline__ void softmax_step(float (&s)[8][4], float (&o)[32][4], float (&maximum)[2],
                                             float (&denominator)[2]) {
  float factor[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float highest = maximum[r];
#pragma unroll
    for (int n = 0; n < 8; ++n) highest = fmaxf(highest, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
    highest = fmaxf(highest, __shfl_xor_sync(kFullWarp, highest, 1));
    highest = fmaxf(highest, __shfl_xor_sync(kFullWarp, highest, 2));
    factor[r] = ptx::exp2_approximate((maximum[r] - highest) * Config::kLog2Scale);
    maximum[r] = highest;
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int i = 2 * r; i < 2 * r + 2; ++i) {
        s[n][i] = ptx::exp2_approximate((s[n][i] - highest) * Config::kLog2Scale);
        sum += s[n][i];
      }
    }
    denominator[r] = fmaf(denominator[r], factor[r], sum);
  }
  if (__any_sync(kFullWarp, factor[0] != 1.0f || factor[1] != 1.0f)) {
#pragma unroll
    for (int n = 0; n < 32; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) o[n][i] *= factor[i / 2];
  }
}

}  // namespace gated_attention_bf16

// One block for each (chunk, kv head, tile of 64 pairs). Later chunks come first: within a sequence they
// have more keys, and the longest blocks should not start last.
__global__ void __launch_bounds__(GatedAttentionBf16Config::kThreads,
                                  GatedAttentionBf16Config::kBlocksPerMultiprocessor)
    gated_attention_bf16_kernel(const __grid_constant__ bmk_gated_attention_args args) {
  using namespace gated_attention_bf16;
  extern __shared__ __align__(128) unsigned char shared[];
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
  const unsigned group = static_cast<unsigned>(args.query_heads / args.kv_heads);
  const unsigned blocks_per_chunk = static_cast<unsigned>(args.query_heads);
  const int kv_head = static_cast<int>(blockIdx.x % blocks_per_chunk / group);
  const ChunkPlace chunk =
      find_chunk(args.sequences, args.sequences.num_chunks - 1 - blockIdx.x / blocks_per_chunk);
  const unsigned first_pair = blockIdx.x % group * Config::kQueryRows;
  const unsigned num_pairs = chunk.rows * group;
  if (first_pair >= num_pairs) return;

  const std::uint32_t q_tile = ptx::shared_address(shared);
  const std::uint32_t k_tile = q_tile + Config::kTileBytes;
  const std::uint32_t v_tile = k_tile + Config::kTileBytes;
  const std::int64_t kv_stride = args.kv_heads * Config::kDim;
  const int own_tile =
      static_cast<int>(args.sequences.first_position[chunk.sequence] / Config::kKeys + chunk.index);
  const int last_segment = static_cast<int>(args.segment_offsets[chunk.sequence + 1]) - 1;
  Segment segment = load_segment(args, static_cast<int>(args.segment_offsets[chunk.sequence]), kv_head);

  const auto load_keys = [&](int tile) {
    const int position = tile * Config::kKeys;
    while (position >= segment.end && segment.index < last_segment)
      segment = load_segment(args, segment.index + 1, kv_head);
    load_tile(k_tile, segment.keys + position * kv_stride, kv_stride, segment.end - position, warp, lane);
    ptx::cp_async_commit();
  };
  const auto load_values = [&](int tile) {
    const int position = tile * Config::kKeys;
    load_tile(v_tile, segment.values + position * kv_stride, kv_stride, segment.end - position, warp, lane);
    ptx::cp_async_commit();
  };

#pragma unroll
  for (int i = 0; i < Config::kQueryRows / Config::kWarps; ++i) {
    const unsigned slot = i * Config::kWarps + warp;
    const bool present = first_pair + slot < num_pairs;
    const Pair pair = locate(chunk, present ? first_pair + slot : first_pair, group, kv_head);
    ptx::cp_async_16_or_zeros(q_tile + Tile::offset(slot, lane),
                              static_cast<const __nv_bfloat16*>(args.query.data) +
                                  pair.row * args.query.row_stride + pair.head * Config::kDim +
                                  lane * kVector,
                              present);
  }
  load_keys(0);
  load_values(0);

  float o[32][4];
#pragma unroll
  for (int n = 0; n < 32; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) o[n][i] = 0.0f;
  float maximum[2] = {-INFINITY, -INFINITY};
  float denominator[2] = {0.0f, 0.0f};

  for (int tile = 0; tile <= own_tile; ++tile) {
    float s[8][4];
    ptx::cp_async_wait<1>();  // Q and K
    __syncthreads();
    multiply_keys(s, q_tile, k_tile, warp, lane);
    ptx::cp_async_wait<0>();  // V
    __syncthreads();          // which also says that every warp is done with K
    if (tile < own_tile) load_keys(tile + 1);
    int num_steps = Config::kKeys / 16;
    if (tile == own_tile) {
      // Key and token count from the chunk's start. Key 0 is seen by every row, also by one that is not
      // there.
      const unsigned first_slot = first_pair + warp * Config::kWarpRows;
      num_steps = static_cast<int>((first_slot + Config::kWarpRows - 1) / group / 16) + 1;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int token = static_cast<int>((first_slot + lane / 4 + i / 2 * 8) / group);
#pragma unroll
        for (int n = 0; n < 8; ++n) s[n][i] = n * 8 + lane % 4 * 2 + i % 2 <= token ? s[n][i] : -INFINITY;
      }
    }
    softmax_step(s, o, maximum, denominator);
    multiply_values(o, s, v_tile, num_steps, lane);
    __syncthreads();  // every warp is done with V
    if (tile < own_tile) load_values(tile + 1);
  }

  unsigned char* const rows = shared + warp * Config::kWarpRows * Config::kRowBytes;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    denominator[r] += __shfl_xor_sync(kFullWarp, denominator[r], 1);
    denominator[r] += __shfl_xor_sync(kFullWarp, denominator[r], 2);
    const float inverse = 1.0f / denominator[r];
#pragma unroll
    for (int n = 0; n < 32; ++n)
      *reinterpret_cast<std::uint32_t*>(rows + Tile::offset(lane / 4 + 8 * r, n) + lane % 4 * 4) =
          ptx::pack_bf16(o[n][2 * r] * inverse, o[n][2 * r + 1] * inverse);
  }
  __syncwarp();
#pragma unroll 4
  for (int i = 0; i < Config::kWarpRows; ++i) {
    const unsigned pair_index = first_pair + warp * Config::kWarpRows + i;
    if (pair_index >= num_pairs) break;
    const Pair pair = locate(chunk, pair_index, group, kv_head);
    const Float8 gate =
        load8(static_cast<const __nv_bfloat16*>(args.gate.data) + pair.row * args.gate.row_stride +
              pair.head * args.gate_head_stride + lane * kVector);
    Float8 result = load8(reinterpret_cast<const __nv_bfloat16*>(rows + Tile::offset(i, lane)));
#pragma unroll
    for (int e = 0; e < kVector; ++e) result.element[e] *= round_to<__nv_bfloat16>(sigmoid(gate.element[e]));
    store8(static_cast<__nv_bfloat16*>(args.out.data) + pair.row * args.out.row_stride +
               pair.head * Config::kDim + lane * kVector,
           result);
  }
}

}  // namespace branchmark::cuda
