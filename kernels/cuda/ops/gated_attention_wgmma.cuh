// Gated attention of bf16 activations on wgmma, sm_90a only (formula and rounding: gated_attention.cu).
//
// A block takes 128 query rows of one chunk of 64 tokens: (token, query head) pairs, token-major, of the
// heads that read one kv head. The chunk is anchored at the prompt's start; all rows of a block therefore see
// the same key tiles, 0 .. the chunk's own, and only in that last tile something is masked. Each of two warp
// groups takes 64 rows:
//
//   S = Q Kᵀ     [64 × 64]   16 steps of k 16, ascending
//   p = exp(s − running max), rounded as the A operand without leaving the registers
//   O = O · factor + P V     [64 × 256]   4 steps of k 16, ascending, for each tile in order of position
//
// A third one copies: K and V of each tile in turn into a ring of slots, which its rows may fill while the
// others multiply. S of the next tile and P V of this one run on the tensor cores while the softmax of the
// next is on its way.
//
// A row's bits do not depend on its place: every row of a wgmma is summed alike, and number, order and size
// of the tiles follow from the row's position. (A masked value is multiplied by 0, so that one that is not
// finite can reach up to 63 tokens before it.)
//
// A tile of [64 × 256] bf16 lies in shared memory as four boxes of 64 columns, in the layout of wgmma.cuh.
// The output is turned through the group's own Q tile.
//
// Bound by the tensor cores, and by what of the softmax does not hide behind them.
#pragma once

#include "../ptx/cp_async.cuh"
#include "../ptx/matrix.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/registers.cuh"
#include "../ptx/wgmma.cuh"
#include "gated_attention_tiles.cuh"

namespace branchmark::cuda {

struct GatedAttentionWgmmaConfig {
  static constexpr int kGroupThreads = 128;
  static constexpr int kGroupWarps = kGroupThreads / kWarpThreads;
  static constexpr int kGroupRows = 64;
  static constexpr int kWarpRows = 16;
  static constexpr int kMultiplyingGroups = 2;
  static constexpr int kThreads = (kMultiplyingGroups + 1) * kGroupThreads;
  static constexpr int kQueryRows = kMultiplyingGroups * kGroupRows;
  static constexpr int kBoxColumns = 64;
  static constexpr int kBoxBytes = attention_tiles::kKeys * kBoxColumns * 2;
  static constexpr int kBoxes = attention_tiles::kDim / kBoxColumns;
  static constexpr int kSlots = 4;  // K and V of two tiles
  static constexpr int kAlignment = 1024;
  static constexpr int kSharedBytes =
      (kMultiplyingGroups + kSlots) * attention_tiles::kTileBytes + kAlignment;
  // 128 · 40 + 256 · 232 registers are no more than a multiprocessor has.
  static constexpr int kCopyingRegisters = 40;
  static constexpr int kMultiplyingRegisters = 232;
};
static_assert(GatedAttentionWgmmaConfig::kGroupRows == attention_tiles::kKeys,
              "query, key and value tiles share one size");
static_assert(GatedAttentionWgmmaConfig::kSharedBytes + 128 <= 227 * 1024, "a block of sm_90 has 227 KiB");
static_assert(GatedAttentionWgmmaConfig::kGroupThreads *
                      (GatedAttentionWgmmaConfig::kCopyingRegisters +
                       GatedAttentionWgmmaConfig::kMultiplyingGroups *
                           GatedAttentionWgmmaConfig::kMultiplyingRegisters) <=
                  64 * 1024,
              "a multiprocessor's registers");

namespace gated_attention_wgmma {

using Config = GatedAttentionWgmmaConfig;
using attention_tiles::kDim;
using attention_tiles::kKeys;
using attention_tiles::kTileBytes;
using attention_tiles::Pair;
using attention_tiles::Softmax;

using Scores = float[kKeys / 8][4];
using Probabilities = std::uint32_t[kKeys / 16][4];

// Byte offset in a tile of a row's 16-byte column, of 32.
__device__ __forceinline__ std::uint32_t offset(int row, int column) {
  return static_cast<std::uint32_t>(column / 8 * Config::kBoxBytes + row * 128 + (column % 8 ^ row % 8) * 16);
}

// The ring's barriers: `full` counts the copying threads, `empty` the warps that have read a slot.
struct Ring {
  std::uint32_t slots;
  std::uint32_t full;
  std::uint32_t empty;
  int slot = 0;
  unsigned parity = 0;

  __device__ __forceinline__ std::uint32_t tile() const {
    return slots + static_cast<std::uint32_t>(slot * kTileBytes);
  }
  __device__ __forceinline__ std::uint32_t full_barrier() const { return full + 8u * slot; }
  __device__ __forceinline__ std::uint32_t empty_barrier() const { return empty + 8u * slot; }
  __device__ __forceinline__ void advance() {
    if (++slot < Config::kSlots) return;
    slot = 0;
    parity ^= 1;
  }
  // For reading: waits until the tile is there, for the tensor cores too.
  __device__ __forceinline__ void wait_until_full() const {
    ptx::mbarrier_wait(full_barrier(), parity);
    ptx::async_proxy_fence();
  }
};

// One arrival a warp, when all its lanes are done with a slot.
__device__ __forceinline__ void hand_back(std::uint32_t empty_barrier, int lane) {
  __syncwarp();
  if (lane == 0) ptx::mbarrier_arrive(empty_barrier);
}

// Fills the next slot with 64 rows; rows from `num_rows` on become zeros.
__device__ __forceinline__ void copy_tile(Ring& ring, const __nv_bfloat16* rows, std::int64_t row_stride,
                                          int num_rows, int warp, int lane) {
  ptx::mbarrier_wait(ring.empty_barrier(), ring.parity ^ 1);
  const std::uint32_t tile = ring.tile();
#pragma unroll 4
  for (int i = 0; i < kKeys / Config::kGroupWarps; ++i) {
    const int row = i * Config::kGroupWarps + warp;
    const bool present = row < num_rows;
    ptx::cp_async_16_or_zeros(tile + offset(row, lane),
                              rows + (present ? row : 0) * row_stride + lane * kVector, present);
  }
  ptx::mbarrier_arrive_after_copies(ring.full_barrier());
  ring.advance();
}

__device__ __forceinline__ void copy_tiles(Ring ring, const bmk_gated_attention_args& args,
                                           std::int64_t sequence, int kv_head, int num_tiles, int warp,
                                           int lane) {
  const std::int64_t kv_stride = args.kv_heads * kDim;
  attention_tiles::Segments segments(args, sequence, kv_head);
  for (int tile = 0; tile < num_tiles; ++tile) {
    const int position = tile * kKeys;
    const attention_tiles::Segment& segment = segments.at(position);
    copy_tile(ring, segment.keys + position * kv_stride, kv_stride, segment.end - position, warp, lane);
    copy_tile(ring, segment.values + position * kv_stride, kv_stride, segment.end - position, warp, lane);
  }
  ptx::cp_async_wait<0>();
}

// Starts S = Q Kᵀ, onto zeros.
__device__ __forceinline__ void start_scores(float (&s)[kKeys / 2], std::uint32_t q_tile,
                                             std::uint32_t k_tile) {
#pragma unroll
  for (float& sum : s) sum = 0.0f;
  ptx::hold_sums(s);
  ptx::wgmma_fence();
#pragma unroll
  for (int box = 0; box < Config::kBoxes; ++box) {
    const auto box_offset = static_cast<std::uint32_t>(box * Config::kBoxBytes);
    const std::uint64_t q = ptx::wgmma_descriptor(q_tile + box_offset);
    const std::uint64_t k = ptx::wgmma_descriptor(k_tile + box_offset);
#pragma unroll
    for (int step = 0; step < Config::kBoxColumns / 16; ++step)
      ptx::wgmma_k16(s, q + step * ptx::kWgmmaStep, k + step * ptx::kWgmmaStep);
  }
  ptx::wgmma_commit();
}

// Starts O += P V.
__device__ __forceinline__ void start_values(float (&o)[kDim / 2], const Probabilities& p,
                                             std::uint32_t v_tile) {
  const std::uint64_t v = ptx::wgmma_rows_descriptor(v_tile, Config::kBoxBytes);
  ptx::hold_sums(o);
  ptx::wgmma_fence();
#pragma unroll
  for (int step = 0; step < kKeys / 16; ++step)
    ptx::wgmma_k16<ptx::WgmmaB::kByRows>(o, p[step], v + step * ptx::kWgmmaRowsStep);
  ptx::wgmma_commit();
}

__device__ __forceinline__ void round_tile(Probabilities& p, const Scores& s) {
#pragma unroll
  for (int step = 0; step < kKeys / 16; ++step)
    attention_tiles::round_probabilities(p[step], s[2 * step], s[2 * step + 1]);
}

}  // namespace gated_attention_wgmma

// One block for each (chunk, kv head, tile of 128 pairs). Later chunks come first: within a sequence they
// have more keys, and the longest blocks should not start last.
__global__ void __launch_bounds__(GatedAttentionWgmmaConfig::kThreads, 1)
    gated_attention_wgmma_kernel(const __grid_constant__ bmk_gated_attention_args args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using namespace gated_attention_wgmma;
  extern __shared__ unsigned char shared[];
  __shared__ std::uint64_t full_barriers[Config::kSlots];
  __shared__ std::uint64_t empty_barriers[Config::kSlots];
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const int warp = static_cast<int>(threadIdx.x) % Config::kGroupThreads / kWarpThreads;
  const int warp_group = static_cast<int>(threadIdx.x) / Config::kGroupThreads;
  const unsigned group = static_cast<unsigned>(args.query_heads / args.kv_heads);
  const unsigned blocks_per_head = (kKeys * group + Config::kQueryRows - 1) / Config::kQueryRows;
  const unsigned blocks_per_chunk = blocks_per_head * static_cast<unsigned>(args.kv_heads);
  const int kv_head = static_cast<int>(blockIdx.x % blocks_per_chunk / blocks_per_head);
  const ChunkPlace chunk =
      find_chunk(args.sequences, args.sequences.num_chunks - 1 - blockIdx.x / blocks_per_chunk);
  const unsigned first_pair = blockIdx.x % blocks_per_head * Config::kQueryRows;
  const unsigned num_pairs = chunk.rows * group;
  if (first_pair >= num_pairs) return;
  const int multiplying_groups = first_pair + Config::kGroupRows < num_pairs ? 2 : 1;
  const int own_tile = static_cast<int>(args.sequences.first_position[chunk.sequence] / kKeys + chunk.index);

  const std::uint32_t unaligned = ptx::shared_address(shared);
  const std::uint32_t padding = (Config::kAlignment - unaligned % Config::kAlignment) % Config::kAlignment;
  const std::uint32_t q_tiles = unaligned + padding;
  Ring ring{q_tiles + Config::kMultiplyingGroups * kTileBytes, ptx::shared_address(full_barriers),
            ptx::shared_address(empty_barriers)};
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < Config::kSlots; ++slot) {
      ptx::mbarrier_init(ring.full + 8u * slot, Config::kGroupThreads);
      ptx::mbarrier_init(ring.empty + 8u * slot, multiplying_groups * Config::kGroupWarps);
    }
    ptx::mbarrier_init_fence();
  }
  __syncthreads();

  if (warp_group == Config::kMultiplyingGroups) {
    ptx::give_up_registers<Config::kCopyingRegisters>();
    copy_tiles(ring, args, chunk.sequence, kv_head, own_tile + 1, warp, lane);
    return;
  }
  ptx::take_registers<Config::kMultiplyingRegisters>();
  if (warp_group >= multiplying_groups) return;

  const unsigned group_pair = first_pair + warp_group * Config::kGroupRows;
  const unsigned warp_pair = group_pair + warp * Config::kWarpRows;
  const std::uint32_t q_tile = q_tiles + static_cast<std::uint32_t>(warp_group * kTileBytes);
#pragma unroll 4
  for (int i = 0; i < Config::kWarpRows; ++i) {
    const bool present = warp_pair + i < num_pairs;
    const Pair pair = attention_tiles::locate(chunk, present ? warp_pair + i : first_pair, group, kv_head);
    ptx::cp_async_16_or_zeros(q_tile + offset(warp * Config::kWarpRows + i, lane),
                              attention_tiles::query_of(args, pair) + lane * kVector, present);
  }
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  ptx::async_proxy_fence();
  const auto group_barrier = [&] {
    if (warp_group == 0)
      ptx::named_barrier<1, Config::kGroupThreads>();
    else
      ptx::named_barrier<2, Config::kGroupThreads>();
  };
  group_barrier();

  float o[kDim / 2];
#pragma unroll
  for (float& sum : o) sum = 0.0f;
  float s[kKeys / 2];
  Scores& scores = reinterpret_cast<Scores&>(s);
  Probabilities p;
  Softmax softmax;

  ring.wait_until_full();
  start_scores(s, q_tile, ring.tile());
  ptx::wgmma_wait<0>();
  ptx::hold_sums(s);
  hand_back(ring.empty_barrier(), lane);
  ring.advance();
  if (own_tile == 0) attention_tiles::mask_own_tile(scores, warp_pair, group, lane);
  softmax.step(scores);
  round_tile(p, scores);

  for (int next = 1; next <= own_tile; ++next) {
    // The ring is at V of the tile before `next`, K of `next` is behind it.
    const Ring values = ring;
    ring.advance();
    ring.wait_until_full();
    start_scores(s, q_tile, ring.tile());
    values.wait_until_full();
    start_values(o, p, values.tile());
    ptx::wgmma_wait<1>();  // S
    ptx::hold_sums(s);
    hand_back(ring.empty_barrier(), lane);
    ring.advance();
    if (next == own_tile) attention_tiles::mask_own_tile(scores, warp_pair, group, lane);
    softmax.step(scores);
    ptx::wgmma_wait<0>();  // P V
    ptx::hold_sums(o);
    hand_back(values.empty_barrier(), lane);
    if (softmax.rescales()) {
#pragma unroll
      for (int i = 0; i < kDim / 2; ++i) o[i] *= softmax.factor[i % 4 / 2];
    }
    round_tile(p, scores);
  }
  ring.wait_until_full();
  start_values(o, p, ring.tile());
  ptx::wgmma_wait<0>();
  ptx::hold_sums(o);

  group_barrier();  // every warp's products with Q are done
  unsigned char* const rows = shared + padding + warp_group * kTileBytes;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float inverse = softmax.inverse(r);
#pragma unroll
    for (int n = 0; n < kDim / 8; ++n)
      *reinterpret_cast<std::uint32_t*>(rows + offset(warp * Config::kWarpRows + lane / 4 + 8 * r, n) +
                                        lane % 4 * 4) =
          ptx::pack_bf16(o[4 * n + 2 * r] * inverse, o[4 * n + 2 * r + 1] * inverse);
  }
  __syncwarp();
#pragma unroll 4
  for (int i = 0; i < Config::kWarpRows; ++i) {
    if (warp_pair + i >= num_pairs) break;
    attention_tiles::store_gated(args, attention_tiles::locate(chunk, warp_pair + i, group, kv_head),
                                 rows + offset(warp * Config::kWarpRows + i, lane), lane);
  }
#endif
}

}  // namespace branchmark::cuda
