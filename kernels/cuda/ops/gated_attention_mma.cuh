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
#include "gated_attention_tiles.cuh"
#include "swizzled_tile.cuh"

namespace branchmark::cuda {

struct GatedAttentionMmaConfig {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarpThreads;
  static constexpr int kBlocksPerMultiprocessor = 2;  // one block's softmax hides behind the other's products
  static constexpr int kWarpRows = 16;
  static constexpr int kQueryRows = kWarps * kWarpRows;
  static constexpr int kSharedBytes = 3 * attention_tiles::kTileBytes;
};
static_assert(GatedAttentionMmaConfig::kQueryRows == attention_tiles::kKeys,
              "query, key and value tiles share one size");

namespace gated_attention_mma {

using Config = GatedAttentionMmaConfig;
using attention_tiles::kDim;
using attention_tiles::kKeys;
using attention_tiles::kTileBytes;
using attention_tiles::Pair;
using attention_tiles::Softmax;
using Tile = SwizzledTile<attention_tiles::kRowBytes>;

// Queues the copy of 64 rows into a tile; rows from `num_rows` on become zeros.
__device__ __forceinline__ void load_tile(std::uint32_t tile, const __nv_bfloat16* rows,
                                          std::int64_t row_stride, int num_rows, int warp, int lane) {
#pragma unroll
  for (int i = 0; i < kKeys / Config::kWarps; ++i) {
    const int row = i * Config::kWarps + warp;
    ptx::cp_async_16_or_zeros(tile + Tile::offset(row, lane), rows + row * row_stride + lane * kVector,
                              row < num_rows);
  }
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
  for (int step = 0; step < kDim / 16; ++step) {
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
  for (int step = 0; step < kKeys / 16; ++step) {
    if (step >= num_steps) continue;
    std::uint32_t a[4];
    attention_tiles::round_probabilities(a, p[2 * step], p[2 * step + 1]);
#pragma unroll
    for (int n = 0; n < 32; n += 2) {
      std::uint32_t v[4];
      ptx::ldmatrix_x4_trans(v, blocks.address(16 * step, n / 2));
      ptx::mma_m16n8k16(o[n], a, v[0], v[1]);
      ptx::mma_m16n8k16(o[n + 1], a, v[2], v[3]);
    }
  }
}

}  // namespace gated_attention_mma

// One block for each (chunk, kv head, tile of 64 pairs). Later chunks come first: within a sequence they
// have more keys, and the longest blocks should not start last.
__global__ void __launch_bounds__(GatedAttentionMmaConfig::kThreads,
                                  GatedAttentionMmaConfig::kBlocksPerMultiprocessor)
    gated_attention_mma_kernel(const __grid_constant__ bmk_gated_attention_args args) {
  using namespace gated_attention_mma;
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
  const std::uint32_t k_tile = q_tile + kTileBytes;
  const std::uint32_t v_tile = k_tile + kTileBytes;
  const std::int64_t kv_stride = args.kv_heads * kDim;
  const int own_tile = static_cast<int>(args.sequences.first_position[chunk.sequence] / kKeys + chunk.index);
  attention_tiles::Segments segments(args, chunk.sequence, kv_head);

  const auto load_keys = [&](int tile) {
    const int position = tile * kKeys;
    const auto& segment = segments.at(position);
    load_tile(k_tile, segment.keys + position * kv_stride, kv_stride, segment.end - position, warp, lane);
    ptx::cp_async_commit();
  };
  // The keys of the tile have been asked for before.
  const auto load_values = [&](int tile) {
    const int position = tile * kKeys;
    const auto& segment = segments.at(position);
    load_tile(v_tile, segment.values + position * kv_stride, kv_stride, segment.end - position, warp, lane);
    ptx::cp_async_commit();
  };

#pragma unroll
  for (int i = 0; i < Config::kQueryRows / Config::kWarps; ++i) {
    const unsigned slot = i * Config::kWarps + warp;
    const bool present = first_pair + slot < num_pairs;
    const Pair pair =
        attention_tiles::locate(chunk, present ? first_pair + slot : first_pair, group, kv_head);
    ptx::cp_async_16_or_zeros(q_tile + Tile::offset(slot, lane),
                              attention_tiles::query_of(args, pair) + lane * kVector, present);
  }
  load_keys(0);
  load_values(0);

  float o[32][4];
#pragma unroll
  for (int n = 0; n < 32; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) o[n][i] = 0.0f;
  Softmax softmax;

  for (int tile = 0; tile <= own_tile; ++tile) {
    float s[8][4];
    ptx::cp_async_wait<1>();  // Q and K
    __syncthreads();
    multiply_keys(s, q_tile, k_tile, warp, lane);
    ptx::cp_async_wait<0>();  // V
    __syncthreads();          // which also says that every warp is done with K
    if (tile < own_tile) load_keys(tile + 1);
    int num_steps = kKeys / 16;
    if (tile == own_tile) {
      const unsigned first_slot = first_pair + warp * Config::kWarpRows;
      num_steps = static_cast<int>((first_slot + Config::kWarpRows - 1) / group / 16) + 1;
      attention_tiles::mask_own_tile(s, first_slot, group, lane);
    }
    softmax.step(s);
    if (softmax.rescales()) {
#pragma unroll
      for (int n = 0; n < 32; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) o[n][i] *= softmax.factor[i / 2];
    }
    multiply_values(o, s, v_tile, num_steps, lane);
    __syncthreads();  // every warp is done with V
    if (tile < own_tile) load_values(tile + 1);
  }

  unsigned char* const rows = shared + warp * Config::kWarpRows * attention_tiles::kRowBytes;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float inverse = softmax.inverse(r);
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
    attention_tiles::store_gated(args, attention_tiles::locate(chunk, pair_index, group, kv_head),
                                 rows + Tile::offset(i, lane), lane);
  }
}

}  // namespace branchmark::cuda
