// What the two kernels of the bf16 gated delta rule hand to one another through the workspace: for each
// (chunk, value head) a record of five matrices and the chunk's decay.
//
// A record is made of fragments: 16 × 16 bf16, 16 bytes a lane, in the very registers that mma.cuh names,
// so that one kernel stores what its lanes hold and the other loads what its lanes need, coalesced and
// without bank conflicts. The second kernel works with transposed matrices, values × tokens, in which all
// of these are B operands (an A and a C turn into one another for free, mma.cuh): in each fragment
// registers 0, 1 are b0, b1 of the first eight columns, registers 2, 3 those of the second eight. With g =
// lane / 4, t = lane % 4 and pairs the lower index first:
//
//   W, Q (4 token tiles × 8 key tiles):
//     r0 (token g,     key 2t, 2t + 1)    r1 (token g,     key 2t + 8, 2t + 9)
//     r2 (token g + 8, key 2t, 2t + 1)    r3 (token g + 8, key 2t + 8, 2t + 9)
//   P (10 tiles i, j with j <= i): the same with token i for the token and token j for the key
//   K (4 token tiles × 8 key tiles):
//     r0 (token 2t, 2t + 1; key g)        r1 (token 2t + 8, 2t + 9; key g)
//     r2 (token 2t, 2t + 1; key g + 8)    r3 (token 2t + 8, 2t + 9; key g + 8)
//   U (8 value tiles × 4 token tiles):
//     r0 (value g, token 2t, 2t + 1)      r1 (value g + 8, token 2t, 2t + 1)
//     r2 (value g, token 2t + 8, 2t + 9)  r3 (value g + 8, token 2t + 8, 2t + 9)
//
// where Q is q e^c, K is k e^{c_end − c} and P is (q kᵀ) ∘ D. U is no operand but the start of an
// accumulator.
#pragma once

#include "common.cuh"

namespace branchmark::cuda {

struct GdnChunkRecord {
  static constexpr int kFragmentBytes = kWarpThreads * 16;
  static constexpr int kTokenTiles = BMK_CHUNK_TOKENS / 16;
  static constexpr int kDimTiles = BMK_GDN_HEAD_DIM / 16;

  // First fragment of each matrix. W, Q and P are read first, then K: each is one run of memory.
  static constexpr int kW = 0;
  static constexpr int kQ = kW + kTokenTiles * kDimTiles;
  static constexpr int kP = kQ + kTokenTiles * kDimTiles;
  static constexpr int kK = kP + kTokenTiles * (kTokenTiles + 1) / 2;
  static constexpr int kU = kK + kTokenTiles * kDimTiles;
  static constexpr int kFragments = kU + kDimTiles * kTokenTiles;
  static constexpr int kBytes = kFragments * kFragmentBytes;

  // Fragment within its matrix. P has its lower triangle of tiles only.
  static constexpr __host__ __device__ int w(int token_tile, int key_tile) {
    return kW + token_tile * kDimTiles + key_tile;
  }
  static constexpr __host__ __device__ int q(int token_tile, int key_tile) {
    return kQ + token_tile * kDimTiles + key_tile;
  }
  static constexpr __host__ __device__ int p(int i_tile, int j_tile) {
    return kP + i_tile * (i_tile + 1) / 2 + j_tile;
  }
  static constexpr __host__ __device__ int k(int token_tile, int key_tile) {
    return kK + token_tile * kDimTiles + key_tile;
  }
  static constexpr __host__ __device__ int u(int value_tile, int token_tile) {
    return kU + value_tile * kTokenTiles + token_tile;
  }
};
static_assert(BMK_CHUNK_TOKENS == 64 && BMK_GDN_HEAD_DIM == 128,
              "the kernels' split over warps counts on these");
static_assert(GdnChunkRecord::kBytes % 256 == 0, "records keep the workspace's alignment");

// The workspace: all records, then c_end of each, both indexed by chunk · value heads + value head.
struct GdnWorkspace {
  uint4* fragments;
  float* log_decay;

  static constexpr std::int64_t bytes(std::int64_t num_records) {
    return num_records * (GdnChunkRecord::kBytes + static_cast<std::int64_t>(sizeof(float)));
  }

  static GdnWorkspace in(void* workspace, std::int64_t num_records) {
    auto* base = static_cast<unsigned char*>(workspace);
    return {reinterpret_cast<uint4*>(base),
            reinterpret_cast<float*>(base + num_records * GdnChunkRecord::kBytes)};
  }

  // The lane's 16 bytes of a fragment.
  __device__ __forceinline__ uint4* fragment(std::int64_t record, int fragment, int lane) const {
    return fragments + (record * GdnChunkRecord::kFragments + fragment) * kWarpThreads + lane;
  }
};

}  // namespace branchmark::cuda
