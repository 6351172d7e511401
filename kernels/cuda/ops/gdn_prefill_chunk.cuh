// What the two kernels of the bf16 gated delta rule hand to one another through the workspace: for each
// (chunk, value head) a record of five matrices and the chunk's decay.
//
//   W        T diag(beta) k e^c       [64 tokens × 128 keys]
//   Q        q e^c                    [64 tokens × 128 keys]
//   P        (q kᵀ) ∘ D               [64 tokens × 64 tokens], lower triangle
//   K        k e^{c_end − c}          [64 tokens × 128 keys]
//   U        T diag(beta) v           [128 values × 64 tokens]
//
// The second kernel works with transposed matrices, values × tokens, in which the first four are B operands
// of a product; U is no operand but the start of an accumulator. Records come in two layouts, each the one
// that the second kernel's instruction reads: fragments for mma.sync, 8 × 8 matrices for wgmma. The first
// kernel stores 16 × 16 tiles either way, 16 bytes a lane.
#pragma once

#include "common.cuh"

namespace branchmark::cuda {

inline constexpr int kGdnTokenTiles = BMK_CHUNK_TOKENS / 16;
inline constexpr int kGdnDimTiles = BMK_GDN_HEAD_DIM / 16;
inline constexpr int kGdnFragmentBytes = kWarpThreads * 16;
static_assert(BMK_CHUNK_TOKENS == 64 && BMK_GDN_HEAD_DIM == 128,
              "the kernels' split over warps counts on these");

// A record of fragments: 16 × 16 bf16, 16 bytes a lane, in the very registers that mma.cuh names, so that one
// kernel stores what its lanes hold and the other loads what its lanes need, coalesced and without bank
// conflicts (an A and a C turn into one another for free, mma.cuh). In each fragment registers 0, 1 are b0,
// b1 of the first eight columns, registers 2, 3 those of the second eight. With g = lane / 4, t = lane % 4
// and pairs the lower index first:
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
struct GdnFragmentRecord {
  // Whether Q and K are stored by rows, and P with the tiles above its diagonal.
  static constexpr bool kByRows = false;

  // First fragment of each matrix. W, Q and P are read first, then K: each is one run of memory.
  static constexpr int kW = 0;
  static constexpr int kQ = kW + kGdnTokenTiles * kGdnDimTiles;
  static constexpr int kP = kQ + kGdnTokenTiles * kGdnDimTiles;
  static constexpr int kK = kP + kGdnTokenTiles * (kGdnTokenTiles + 1) / 2;
  static constexpr int kU = kK + kGdnTokenTiles * kGdnDimTiles;
  static constexpr int kBytes = (kU + kGdnDimTiles * kGdnTokenTiles) * kGdnFragmentBytes;

  // Fragment within the record. P has its lower triangle of tiles only.
  static constexpr __host__ __device__ int w(int token_tile, int key_tile) {
    return kW + token_tile * kGdnDimTiles + key_tile;
  }
  static constexpr __host__ __device__ int q(int token_tile, int key_tile) {
    return kQ + token_tile * kGdnDimTiles + key_tile;
  }
  static constexpr __host__ __device__ int p(int i_tile, int j_tile) {
    return kP + i_tile * (i_tile + 1) / 2 + j_tile;
  }
  static constexpr __host__ __device__ int k(int token_tile, int key_tile) {
    return kK + token_tile * kGdnDimTiles + key_tile;
  }
  static constexpr __host__ __device__ int u(int value_tile, int token_tile) {
    return kU + value_tile * kGdnTokenTiles + token_tile;
  }

  // The lane's 16 bytes of a fragment.
  static __device__ __forceinline__ uint4* at(unsigned char* record, int fragment, int lane) {
    return reinterpret_cast<uint4*>(record) + fragment * kWarpThreads + lane;
  }

  // Store a tile, whose registers are as above. For the whole warp together.
  static __device__ __forceinline__ void store_w(unsigned char* record, int token_tile, int key_tile,
                                                 int lane, const uint4& tile) {
    *at(record, w(token_tile, key_tile), lane) = tile;
  }
  static __device__ __forceinline__ void store_q(unsigned char* record, int token_tile, int key_tile,
                                                 int lane, const uint4& tile) {
    *at(record, q(token_tile, key_tile), lane) = tile;
  }
  static __device__ __forceinline__ void store_p(unsigned char* record, int i_tile, int j_tile, int lane,
                                                 const uint4& tile) {
    *at(record, p(i_tile, j_tile), lane) = tile;
  }
  static __device__ __forceinline__ void store_k(unsigned char* record, int token_tile, int key_tile,
                                                 int lane, const uint4& tile) {
    *at(record, k(token_tile, key_tile), lane) = tile;
  }
  static __device__ __forceinline__ void store_u(unsigned char* record, int value_tile, int token_tile,
                                                 int lane, const uint4& tile) {
    *at(record, u(value_tile, token_tile), lane) = tile;
  }
};
static_assert(GdnFragmentRecord::kBytes % 256 == 0, "records keep the workspace's alignment");

// A record of matrices of 8 × 8 bf16, 128 bytes each with rows of 16, as wgmma reads them where nothing is
// swizzled (wgmma.cuh): a 16 × 16 tile is four of them and one run of 512 bytes, and what a step of a product
// needs is one run of such tiles. The tiles of P above its diagonal are zeros. U as fragments.
//   W, Q, P: tiles of 16 columns one after the other, those of W and Q in turn; in a tile, the token's half,
//            then the column's
//   K:       tiles of 16 tokens one after the other; in a tile, the key's half, then the token's
struct GdnMatrixRecord {
  static constexpr bool kByRows = true;
  static constexpr int kMatrixBytes = 128;
  static constexpr int kTileBytes = 4 * kMatrixBytes;
  // Of what one step of a product needs.
  static constexpr int kTokenTilesBytes = kGdnTokenTiles * kTileBytes;  // of W, Q or P: 16 columns
  static constexpr int kKeyTilesBytes = kGdnDimTiles * kTileBytes;      // of K: 16 tokens

  // Bytes from the record's begin.
  static constexpr int kW = 0;
  static constexpr int kQ = kTokenTilesBytes;
  static constexpr int kP = 2 * kGdnDimTiles * kTokenTilesBytes;
  static constexpr int kK = kP + kGdnTokenTiles * kTokenTilesBytes;
  static constexpr int kU = kK + kGdnTokenTiles * kKeyTilesBytes;
  static constexpr int kBytes = kU + kGdnDimTiles * kGdnTokenTiles * kGdnFragmentBytes;

  static __device__ __forceinline__ uint4* u(unsigned char* record, int value_tile, int token_tile,
                                             int lane) {
    return reinterpret_cast<uint4*>(record + kU) + (value_tile * kGdnTokenTiles + token_tile) * kWarpThreads +
           lane;
  }

  // The row of a tile, and the half of its columns, that a lane stores of Q and K.
  static __device__ __forceinline__ int row_of(int lane) { return lane % 16; }
  static __device__ __forceinline__ int half_of(int lane) { return lane / 16; }

  // Store eight neighbouring elements of a row of a tile, as row_of and half_of say.
  static __device__ __forceinline__ void store_q_row(unsigned char* record, int token_tile, int key_tile,
                                                     int lane, const uint4& row) {
    unsigned char* const tile = record + kQ + 2 * key_tile * kTokenTilesBytes + token_tile * kTileBytes;
    *reinterpret_cast<uint4*>(tile + lane / 8 % 2 * 2 * kMatrixBytes + lane / 16 * kMatrixBytes +
                              lane % 8 * 16) = row;
  }
  static __device__ __forceinline__ void store_k_row(unsigned char* record, int token_tile, int key_tile,
                                                     int lane, const uint4& row) {
    unsigned char* const tile = record + kK + token_tile * kKeyTilesBytes + key_tile * kTileBytes;
    *reinterpret_cast<uint4*>(tile + lane / 8 % 2 * kMatrixBytes + lane / 16 * 2 * kMatrixBytes +
                              lane % 8 * 16) = row;
  }

  // Store a tile, with registers as of GdnFragmentRecord. For the whole warp together.
  static __device__ __forceinline__ void store_w(unsigned char* record, int token_tile, int key_tile,
                                                 int lane, const uint4& tile) {
    store(record + kW + 2 * key_tile * kTokenTilesBytes + token_tile * kTileBytes, lane, tile);
  }
  static __device__ __forceinline__ void store_p(unsigned char* record, int i_tile, int j_tile, int lane,
                                                 const uint4& tile) {
    store(record + kP + j_tile * kTokenTilesBytes + i_tile * kTileBytes, lane, tile);
  }
  static __device__ __forceinline__ void store_u(unsigned char* record, int value_tile, int token_tile,
                                                 int lane, const uint4& tile) {
    *u(record, value_tile, token_tile, lane) = tile;
  }

 private:
  // The four lanes of a row exchange their registers, so that each has one whole row of a matrix: lane t of
  // them gets register t of all.
  static __device__ __forceinline__ void store(unsigned char* to, int lane, const uint4& tile) {
    std::uint32_t r[4] = {tile.x, tile.y, tile.z, tile.w};
    const bool lower = (lane & 2) != 0;
    const bool right = (lane & 1) != 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t other = __shfl_xor_sync(kFullWarp, lower ? r[i] : r[i + 2], 2);
      (lower ? r[i] : r[i + 2]) = other;
    }
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const std::uint32_t other = __shfl_xor_sync(kFullWarp, right ? r[i] : r[i + 1], 1);
      (right ? r[i] : r[i + 1]) = other;
    }
    *reinterpret_cast<uint4*>(to + lane % 4 * kMatrixBytes + lane / 4 * 16) = {r[0], r[1], r[2], r[3]};
  }
};
static_assert(GdnMatrixRecord::kBytes % 256 == 0, "records keep the workspace's alignment");

// The workspace: all records, then c_end of each, both indexed by chunk · value heads + value head.
template <class Record>
struct GdnWorkspace {
  unsigned char* records;
  float* log_decay;

  static constexpr std::int64_t bytes(std::int64_t num_records) {
    return num_records * (Record::kBytes + static_cast<std::int64_t>(sizeof(float)));
  }

  static GdnWorkspace in(void* workspace, std::int64_t num_records) {
    auto* base = static_cast<unsigned char*>(workspace);
    return {base, reinterpret_cast<float*>(base + num_records * Record::kBytes)};
  }

  __device__ __forceinline__ unsigned char* record(std::int64_t index) const {
    return records + index * Record::kBytes;
  }
};

}  // namespace branchmark::cuda
