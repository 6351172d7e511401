// What the two kernels of gated attention on tensor cores share: where tiles of keys and of queries lie, and
// the softmax over one tile. Both hold scores and sums in the C fragments of m16n8k16 (mma.cuh).
#pragma once

#include "../ptx/approximate.cuh"
#include "../ptx/mma.cuh"
#include "sequences.cuh"

namespace branchmark::cuda::attention_tiles {

inline constexpr int kKeys = BMK_CHUNK_TOKENS;  // of a tile
inline constexpr int kDim = BMK_ATTENTION_HEAD_DIM;
inline constexpr int kRowBytes = kDim * 2;
inline constexpr int kTileBytes = kKeys * kRowBytes;
static_assert(BMK_CHUNK_TOKENS % kKeys == 0, "a key tile lies in one segment");
static_assert(kRowBytes == kWarpThreads * 16, "a warp loads a row at once");

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
  const std::int64_t shift = static_cast<std::int64_t>(kv_head) * kDim - first * args.kv_heads * kDim;
  return {static_cast<const __nv_bfloat16*>(args.segment_keys[index]) + shift,
          static_cast<const __nv_bfloat16*>(args.segment_values[index]) + shift,
          static_cast<int>(first + args.segment_length[index]), index};
}

// The segments of a sequence, walked in order of position.
class Segments {
 public:
  __device__ __forceinline__ Segments(const bmk_gated_attention_args& args, std::int64_t sequence,
                                      int kv_head)
      : args_(args),
        kv_head_(kv_head),
        last_(static_cast<int>(args.segment_offsets[sequence + 1]) - 1),
        segment_(load_segment(args, static_cast<int>(args.segment_offsets[sequence]), kv_head)) {}

  // The one that holds `position`, which is not before the last one asked for.
  __device__ __forceinline__ const Segment& at(int position) {
    while (position >= segment_.end && segment_.index < last_)
      segment_ = load_segment(args_, segment_.index + 1, kv_head_);
    return segment_;
  }

 private:
  const bmk_gated_attention_args& args_;
  int kv_head_;
  int last_;
  Segment segment_;
};

// Where a (token, head) pair of the block's chunk lies.
struct Pair {
  std::int64_t row;
  std::int64_t head;
};

__device__ __forceinline__ Pair locate(const ChunkPlace& chunk, unsigned pair, unsigned group, int kv_head) {
  return {chunk.first_row + pair / group, static_cast<std::int64_t>(kv_head) * group + pair % group};
}

__device__ __forceinline__ const __nv_bfloat16* query_of(const bmk_gated_attention_args& args,
                                                         const Pair& pair) {
  return static_cast<const __nv_bfloat16*>(args.query.data) + pair.row * args.query.row_stride +
         pair.head * kDim;
}

// Hides the keys of the chunk's own tile that come after a row's token: key and token count from the chunk's
// start. `first_slot` is the warp's first pair. Key 0 is seen by every row, also by one that is not there.
__device__ __forceinline__ void mask_own_tile(float (&s)[kKeys / 8][4], unsigned first_slot, unsigned group,
                                              int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int token = static_cast<int>((first_slot + lane / 4 + i / 2 * 8) / group);
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) s[n][i] = n * 8 + lane % 4 * 2 + i % 2 <= token ? s[n][i] : -INFINITY;
  }
}

// Index 0 and 1: rows g and g + 8 of the warp. A lane's denominator covers its own columns; the four lanes of
// a row add up at the end.
struct Softmax {
  // exp(x / 16) = 2^(x · kLog2Scale)
  static constexpr float kLog2Scale = 1.44269504088896340736f / 16.0f;

  float maximum[2] = {-INFINITY, -INFINITY};
  float denominator[2] = {0.0f, 0.0f};
  float factor[2];  // from the sums under the old maximum to those under the new one

  // Turns a tile's scores into probabilities in place, under the new maximum.
  __device__ __forceinline__ void step(float (&s)[kKeys / 8][4]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float highest = maximum[r];
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) highest = fmaxf(highest, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
      highest = fmaxf(highest, __shfl_xor_sync(kFullWarp, highest, 1));
      highest = fmaxf(highest, __shfl_xor_sync(kFullWarp, highest, 2));
      factor[r] = ptx::exp2_approximate((maximum[r] - highest) * kLog2Scale);
      maximum[r] = highest;
      float sum = 0.0f;
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; ++i) {
          s[n][i] = ptx::exp2_approximate((s[n][i] - highest) * kLog2Scale);
          sum += s[n][i];
        }
      }
      denominator[r] = fmaf(denominator[r], factor[r], sum);
    }
  }

  // Whether the sums of any row of the warp have to be multiplied. Leaving out factors of 1 changes no bit.
  __device__ __forceinline__ bool rescales() const {
    return __any_sync(kFullWarp, factor[0] != 1.0f || factor[1] != 1.0f) != 0;
  }

  // 1 / denominator of a row, all lanes of it together.
  __device__ __forceinline__ float inverse(int r) const {
    float sum = denominator[r];
    sum += __shfl_xor_sync(kFullWarp, sum, 1);
    sum += __shfl_xor_sync(kFullWarp, sum, 2);
    return 1.0f / sum;
  }
};

// The A operand over 16 keys of a tile: the probabilities of their two fragments, rounded.
__device__ __forceinline__ void round_probabilities(std::uint32_t (&a)[4], const float (&low)[4],
                                                    const float (&high)[4]) {
  a[0] = ptx::pack_bf16(low[0], low[1]);
  a[1] = ptx::pack_bf16(low[2], low[3]);
  a[2] = ptx::pack_bf16(high[0], high[1]);
  a[3] = ptx::pack_bf16(high[2], high[3]);
}

// Multiplies eight elements of a pair's rounded output, as they lie in shared memory, by its gate and stores
// them, a lane's eight of 256.
__device__ __forceinline__ void store_gated(const bmk_gated_attention_args& args, const Pair& pair,
                                            const void* output, int lane) {
  const Float8 gate =
      load8(static_cast<const __nv_bfloat16*>(args.gate.data) + pair.row * args.gate.row_stride +
            pair.head * args.gate_head_stride + lane * kVector);
  Float8 result = load8(static_cast<const __nv_bfloat16*>(output));
#pragma unroll
  for (int e = 0; e < kVector; ++e)
    result.element[e] *= round_to<__nv_bfloat16>(sigmoid<__nv_bfloat16>(gate.element[e]));
  store8(static_cast<__nv_bfloat16*>(args.out.data) + pair.row * args.out.row_stride + pair.head * kDim +
             lane * kVector,
         result);
}

}  // namespace branchmark::cuda::attention_tiles
