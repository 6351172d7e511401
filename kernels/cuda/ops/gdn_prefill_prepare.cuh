// The part of the bf16 gated delta rule that no chunk has to wait for (formula and rounding:
// gdn_prefill.cu): from q, k, v, g and beta of a (chunk, value head) to W, U, (q kᵀ) ∘ D, q e^c and
// k e^{c_end − c}, for all of them at once.
//
//   k kᵀ, q kᵀ   products of the bf16 values as they are, which loses nothing; their float32 sums are then
//                multiplied by both rows' 1 / norm. Lower triangle of 16 × 16 tiles: warps 0, 1 take k kᵀ,
//                warps 2, 3 q kᵀ.
//   T            in place of A in float32: gdn_prefill_invert.cuh.
//   W, U         [T diag(beta)] times [k e^c] and [v]: warp w makes columns 32w .. 32w + 31 of both.
//
// Sums over keys run in steps of 16, sums over tokens in steps of 16 up to the row's own tile. Rows past
// the sequence's end are zeros with g = 0 and beta = 0, so that they add exact zeros and their own results
// are zeros. A block shares nothing with others: a row's bits follow from its chunk up to the row itself.
// (Zeros above the diagonal of a 16 × 16 tile are multiplied, so that a value that is not finite can reach
// up to 15 tokens before it.)
//
// Bound by the latency of its steps: the more blocks a multiprocessor holds, the better.
#pragma once

#include "../ptx/cp_async.cuh"
#include "../ptx/mma.cuh"
#include "gdn_prefill_chunk.cuh"
#include "gdn_prefill_invert.cuh"
#include "sequences.cuh"
#include "swizzled_tile.cuh"

namespace branchmark::cuda {

struct GdnPrepareConfig {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarpThreads;
  static constexpr int kBlocksPerMultiprocessor = 4;
  static constexpr int kTokens = BMK_CHUNK_TOKENS;
  static constexpr int kDim = BMK_GDN_HEAD_DIM;
  static constexpr int kRowBytes = kDim * 2;
  static constexpr int kTileBytes = kTokens * kRowBytes;
  static constexpr float kNormEps = 1e-6f;
  static constexpr float kQueryScale = 0.088388347648318440550f;  // 128^−½
};
static_assert(GdnPrepareConfig::kThreads == 2 * GdnPrepareConfig::kTokens, "one thread a row of q and of k");
static_assert(GdnPrepareConfig::kWarps == kGdnTokenTiles, "one warp a diagonal block and a row tile of q");

namespace gdn_prepare {

using Config = GdnPrepareConfig;
using Tile = SwizzledTile<Config::kRowBytes>;

struct Shared {
  unsigned char q[Config::kTileBytes];  // later v
  unsigned char k[Config::kTileBytes];
  float triangle[Config::kTokens * GdnInvertConfig::kTriangleStride];  // A, then T
  float g[Config::kTokens];
  float beta[Config::kTokens];
  float c[Config::kTokens];
  float from_start[Config::kTokens];        // e^c
  float to_end[Config::kTokens];            // e^{c_end − c}
  float inverse_norm[2 * Config::kTokens];  // of q, with 128^−½; of k
};
static_assert(Config::kBlocksPerMultiprocessor * (sizeof(Shared) + 1024) <= 227 * 1024,
              "as many blocks fit a multiprocessor of sm_90; each takes 1 KiB more than it asks for");

// Queues the copy of the chunk's rows of one head; rows past the end become zeros.
__device__ __forceinline__ void load_tile(std::uint32_t tile, const bmk_gdn_prefill_args& args,
                                          const ChunkPlace& chunk, std::int64_t first_column) {
  constexpr int kColumns = Config::kRowBytes / 16;
  const int column = static_cast<int>(threadIdx.x) % kColumns;
  const auto* data = static_cast<const __nv_bfloat16*>(args.qkv.data) +
                     chunk.first_row * args.qkv.row_stride + first_column + column * kVector;
#pragma unroll
  for (int row = threadIdx.x / kColumns; row < Config::kTokens; row += Config::kThreads / kColumns) {
    const bool present = row < chunk.rows;
    ptx::cp_async_16_or_zeros(tile + Tile::offset(row, column),
                              data + (present ? row : 0) * args.qkv.row_stride, present);
  }
}

// rsqrt(Σ x² + 1e-6) of a row: the sums of even and odd columns of each register, then their tree.
__device__ __forceinline__ float inverse_norm_of_row(const unsigned char* tile, int row) {
  float sums[kVector] = {};
#pragma unroll
  for (int column = 0; column < Config::kRowBytes / 16; ++column) {
    const uint4 raw = *reinterpret_cast<const uint4*>(tile + Tile::offset(row, column));
    const std::uint32_t pairs[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 x = ptx::unpack_bf16(pairs[i]);
      sums[2 * i] = fmaf(x.x, x.x, sums[2 * i]);
      sums[2 * i + 1] = fmaf(x.y, x.y, sums[2 * i + 1]);
    }
  }
  const float sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  return reciprocal_sqrt(sum + Config::kNormEps);
}

// Both elements of a register times 1 / norm, then times a decay, rounded once.
__device__ __forceinline__ std::uint32_t scale_pair(std::uint32_t pair, float2 inverse_norm, float2 decay) {
  const float2 x = ptx::unpack_bf16(pair);
  return ptx::pack_bf16(x.x * inverse_norm.x * decay.x, x.y * inverse_norm.y * decay.y);
}

__device__ __forceinline__ float2 load_pair(const float* p) {
  return *reinterpret_cast<const float2*>(p);
}

// Row tile `tile` of left · kᵀ, tiles of columns up to its own: sums[n] are columns 8n .. 8n + 7.
__device__ __forceinline__ void multiply_keys(float (&sums)[8][4], std::uint32_t left, std::uint32_t k,
                                              int tile, int lane) {
  const Tile::Blocks left_blocks = Tile::Blocks::rows_first(left, lane);
  const Tile::Blocks k_blocks = Tile::Blocks::columns_first(k, lane);
#pragma unroll
  for (int n = 0; n < 8; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[n][i] = 0.0f;
#pragma unroll
  for (int step = 0; step < kGdnDimTiles; ++step) {
    std::uint32_t a[4];
    ptx::ldmatrix_x4(a, left_blocks.address(16 * tile, step));
#pragma unroll
    for (int other = 0; other < kGdnTokenTiles; ++other) {
      if (other > tile) continue;
      std::uint32_t b[4];
      ptx::ldmatrix_x4(b, k_blocks.address(16 * other, step));
      ptx::mma_m16n8k16(sums[2 * other], a, b[0], b[1]);
      ptx::mma_m16n8k16(sums[2 * other + 1], a, b[2], b[3]);
    }
  }
}

// The lane's four elements of an 8-column part of a row tile of k kᵀ, from sums to A in shared memory.
__device__ __forceinline__ void store_a(Shared& s, const float (&sums)[4], int tile, int first_column,
                                        int lane) {
  const int j = first_column + lane % 4 * 2;
  const float2 norm_j = load_pair(s.inverse_norm + Config::kTokens + j);
  const float2 c_j = load_pair(s.c + j);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = 16 * tile + lane / 4 + 8 * half;
    const float norm_i = s.inverse_norm[Config::kTokens + i];
    float2 a = {s.beta[i] * (sums[2 * half] * norm_i * norm_j.x),
                s.beta[i] * (sums[2 * half + 1] * norm_i * norm_j.y)};
    a.x = j < i ? a.x * expf(s.c[i] - c_j.x) : 0.0f;
    a.y = j + 1 < i ? a.y * expf(s.c[i] - c_j.y) : 0.0f;
    *reinterpret_cast<float2*>(s.triangle + i * GdnInvertConfig::kTriangleStride + j) = a;
  }
}

// The same of q kᵀ, to the two registers of P that rows g and g + 8 need.
__device__ __forceinline__ void score_pairs(std::uint32_t (&pairs)[2], const Shared& s,
                                            const float (&sums)[4], int tile, int first_column, int lane) {
  const int j = first_column + lane % 4 * 2;
  const float2 norm_j = load_pair(s.inverse_norm + Config::kTokens + j);
  const float2 c_j = load_pair(s.c + j);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = 16 * tile + lane / 4 + 8 * half;
    const float norm_i = s.inverse_norm[i];
    const float low = sums[2 * half] * norm_i * norm_j.x;
    const float high = sums[2 * half + 1] * norm_i * norm_j.y;
    pairs[half] = ptx::pack_bf16(j <= i ? low * expf(s.c[i] - c_j.x) : 0.0f,
                                 j + 1 <= i ? high * expf(s.c[i] - c_j.y) : 0.0f);
  }
}

// q e^c of row tile `tile`, to a record of fragments.
__device__ __forceinline__ void store_query_tiles(const Shared& s, unsigned char* record,
                                                  std::uint32_t q_tile, int tile, int lane) {
  const Tile::Blocks blocks = Tile::Blocks::columns_first(q_tile, lane);
  const int token = 16 * tile + lane / 4;
  const float2 norm[2] = {{s.inverse_norm[token], s.inverse_norm[token]},
                          {s.inverse_norm[token + 8], s.inverse_norm[token + 8]}};
  const float2 decay[2] = {{s.from_start[token], s.from_start[token]},
                           {s.from_start[token + 8], s.from_start[token + 8]}};
#pragma unroll
  for (int step = 0; step < kGdnDimTiles; ++step) {
    std::uint32_t q[4];
    ptx::ldmatrix_x4(q, blocks.address(16 * tile, step));
    GdnFragmentRecord::store_q(record, tile, step, lane,
                               {scale_pair(q[0], norm[0], decay[0]), scale_pair(q[1], norm[0], decay[0]),
                                scale_pair(q[2], norm[1], decay[1]), scale_pair(q[3], norm[1], decay[1])});
  }
}

// Rows of row tile `tile` of q or k times their 1 / norm and decay, eight elements a lane, to
// store(key tile, elements).
template <typename Store>
__device__ __forceinline__ void scale_rows(const unsigned char* rows, const float* inverse_norm,
                                           const float* decays, int tile, int lane, const Store& store) {
  const int row = 16 * tile + GdnMatrixRecord::row_of(lane);
  const float2 norm = {inverse_norm[row], inverse_norm[row]};
  const float2 decay = {decays[row], decays[row]};
#pragma unroll
  for (int key_tile = 0; key_tile < kGdnDimTiles; ++key_tile) {
    const uint4 x = *reinterpret_cast<const uint4*>(
        rows + Tile::offset(row, 2 * key_tile + GdnMatrixRecord::half_of(lane)));
    store(key_tile, uint4{scale_pair(x.x, norm, decay), scale_pair(x.y, norm, decay),
                          scale_pair(x.z, norm, decay), scale_pair(x.w, norm, decay)});
  }
}

// k e^c of all tokens and the 32 key dims from 16 · `key_tile`, as B operands of two key tiles. In a record
// of fragments also k e^{c_end − c}, unless the chunk is the sequence's incomplete last one, after which no
// state is asked for.
template <class Record>
__device__ __forceinline__ void scale_keys(std::uint32_t (&keys)[2][kGdnTokenTiles][4], const Shared& s,
                                           unsigned char* record, bool whole, std::uint32_t k_tile,
                                           int key_tile, int lane) {
  const Tile::Blocks blocks = Tile::Blocks::rows_first(k_tile, lane);
#pragma unroll
  for (int tile = 0; tile < kGdnTokenTiles; ++tile) {
    float2 norm[2];
    float2 from_start[2];
    float2 to_end[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int token = 16 * tile + 8 * half + lane % 4 * 2;
      norm[half] = load_pair(s.inverse_norm + Config::kTokens + token);
      from_start[half] = load_pair(s.from_start + token);
      to_end[half] = load_pair(s.to_end + token);
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      std::uint32_t k[4];
      ptx::ldmatrix_x4_trans(k, blocks.address(16 * tile, key_tile + n));
#pragma unroll
      for (int i = 0; i < 4; ++i) keys[n][tile][i] = scale_pair(k[i], norm[i % 2], from_start[i % 2]);
      if constexpr (!Record::kByRows)
        if (whole)
          Record::store_k(record, tile, key_tile + n, lane,
                          {scale_pair(k[0], norm[0], to_end[0]), scale_pair(k[1], norm[1], to_end[1]),
                           scale_pair(k[2], norm[0], to_end[0]), scale_pair(k[3], norm[1], to_end[1])});
    }
  }
}

// The A operand of tile (i, j) of T diag(beta).
__device__ __forceinline__ void load_t_beta(std::uint32_t (&a)[4], const Shared& s, int i_tile, int j_tile,
                                            int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = 16 * i_tile + lane / 4 + i % 2 * 8;
    const int column = 16 * j_tile + lane % 4 * 2 + i / 2 * 8;
    const float2 t = load_pair(s.triangle + row * GdnInvertConfig::kTriangleStride + column);
    const float2 beta = load_pair(s.beta + column);
    a[i] = ptx::pack_bf16(t.x * beta.x, t.y * beta.y);
  }
}

// Columns 32 · warp .. 32 · warp + 31 of W and U, to the record. U is made transposed: vᵀ (T diag(beta))ᵀ.
template <class Record>
__device__ __forceinline__ void store_w_and_u(const Shared& s, unsigned char* record,
                                              const std::uint32_t (&keys)[2][kGdnTokenTiles][4],
                                              std::uint32_t v_tile, int warp, int lane) {
  const Tile::Blocks blocks = Tile::Blocks::columns_first(v_tile, lane);
  std::uint32_t values[2][kGdnTokenTiles][4];
#pragma unroll
  for (int n = 0; n < 2; ++n)
#pragma unroll
    for (int tile = 0; tile < kGdnTokenTiles; ++tile)
      ptx::ldmatrix_x4_trans(values[n][tile], blocks.address(16 * tile, 2 * warp + n));
#pragma unroll 1
  for (int i = 0; i < kGdnTokenTiles; ++i) {
    float w[4][4] = {};
    float u[2][2][4] = {};
#pragma unroll
    for (int j = 0; j < kGdnTokenTiles; ++j) {
      if (j > i) continue;
      std::uint32_t t[4];
      load_t_beta(t, s, i, j, lane);
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        ptx::mma_m16n8k16(w[2 * n], t, keys[n][j][0], keys[n][j][1]);
        ptx::mma_m16n8k16(w[2 * n + 1], t, keys[n][j][2], keys[n][j][3]);
        ptx::mma_m16n8k16(u[n][0], values[n][j], t[0], t[2]);
        ptx::mma_m16n8k16(u[n][1], values[n][j], t[1], t[3]);
      }
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      Record::store_w(
          record, i, 2 * warp + n, lane,
          {ptx::pack_bf16(w[2 * n][0], w[2 * n][1]), ptx::pack_bf16(w[2 * n + 1][0], w[2 * n + 1][1]),
           ptx::pack_bf16(w[2 * n][2], w[2 * n][3]), ptx::pack_bf16(w[2 * n + 1][2], w[2 * n + 1][3])});
      Record::store_u(record, 2 * warp + n, i, lane,
                      {ptx::pack_bf16(u[n][0][0], u[n][0][1]), ptx::pack_bf16(u[n][0][2], u[n][0][3]),
                       ptx::pack_bf16(u[n][1][0], u[n][1][1]), ptx::pack_bf16(u[n][1][2], u[n][1][3])});
    }
  }
}

}  // namespace gdn_prepare

// One block for each (chunk, value head).
template <class Record>
__global__ void __launch_bounds__(GdnPrepareConfig::kThreads, GdnPrepareConfig::kBlocksPerMultiprocessor)
    gdn_prepare_kernel(const __grid_constant__ bmk_gdn_prefill_args args,
                       const GdnWorkspace<Record> workspace) {
  using namespace gdn_prepare;
  extern __shared__ __align__(128) unsigned char shared[];
  Shared& s = *reinterpret_cast<Shared*>(shared);
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpThreads;
  const int warp = thread / kWarpThreads;
  unsigned char* const record = workspace.record(blockIdx.x);
  const unsigned value_heads = static_cast<unsigned>(args.value_heads);
  const unsigned value_head = blockIdx.x % value_heads;
  const unsigned key_head = value_head * static_cast<unsigned>(args.key_heads) / value_heads;
  const ChunkPlace chunk = find_chunk(args.sequences, blockIdx.x / value_heads);

  const std::uint32_t q_tile = ptx::shared_address(s.q);
  const std::uint32_t k_tile = ptx::shared_address(s.k);
  const std::uint32_t v_tile = q_tile;
  load_tile(q_tile, args, chunk, key_head * Config::kDim);
  load_tile(k_tile, args, chunk, (args.key_heads + key_head) * Config::kDim);
  ptx::cp_async_commit();
  if (thread < Config::kTokens) {
    const bool present = thread < chunk.rows;
    const std::int64_t row = chunk.first_row + thread;
    s.g[thread] =
        present ? static_cast<const float*>(args.g.data)[row * args.g.row_stride + value_head] : 0.0f;
    s.beta[thread] =
        present ? static_cast<const float*>(args.beta.data)[row * args.beta.row_stride + value_head] : 0.0f;
  }
  __syncthreads();
  if (thread == 0) {
    // One running sum, so that c never grows within a chunk. It hides behind the copies.
    float c = 0.0f;
#pragma unroll 16
    for (int i = 0; i < Config::kTokens; ++i) {
      c += s.g[i];
      s.c[i] = c;
    }
    workspace.log_decay[blockIdx.x] = c;
  }
  ptx::cp_async_wait<0>();
  __syncthreads();
  const bool is_query = thread < Config::kTokens;
  s.inverse_norm[thread] = inverse_norm_of_row(is_query ? s.q : s.k, thread % Config::kTokens) *
                           (is_query ? Config::kQueryScale : 1.0f);
  if (thread < Config::kTokens) {
    s.from_start[thread] = expf(s.c[thread]);
    s.to_end[thread] = expf(s.c[Config::kTokens - 1] - s.c[thread]);
  }
  __syncthreads();

  // Of the row tiles 0 .. 3 with 1 .. 4 column tiles, a warp takes 0 and 3 or 1 and 2: five column tiles
  // either way.
  const bool makes_a = warp < 2;
#pragma unroll 1
  for (int part = 0; part < 2; ++part) {
    const int tile = warp % 2 == 0 ? 3 * part : 1 + part;
    float sums[8][4];
    multiply_keys(sums, makes_a ? k_tile : q_tile, k_tile, tile, lane);
#pragma unroll
    for (int other = 0; other < kGdnTokenTiles; ++other) {
      if (other > tile) continue;
      if (makes_a) {
        store_a(s, sums[2 * other], tile, 16 * other, lane);
        store_a(s, sums[2 * other + 1], tile, 16 * other + 8, lane);
      } else {
        std::uint32_t left[2];
        std::uint32_t right[2];
        score_pairs(left, s, sums[2 * other], tile, 16 * other, lane);
        score_pairs(right, s, sums[2 * other + 1], tile, 16 * other + 8, lane);
        Record::store_p(record, tile, other, lane, {left[0], right[0], left[1], right[1]});
      }
    }
    if constexpr (Record::kByRows)
      for (int other = tile + 1; !makes_a && other < kGdnTokenTiles; ++other)
        Record::store_p(record, tile, other, lane, {});
  }
  const bool whole = chunk.rows == Config::kTokens;
  if constexpr (Record::kByRows) {
    scale_rows(s.q, s.inverse_norm, s.from_start, warp, lane, [&](int key_tile, const uint4& row) {
      Record::store_q_row(record, warp, key_tile, lane, row);
    });
    if (whole)
      scale_rows(
          s.k, s.inverse_norm + Config::kTokens, s.to_end, warp, lane,
          [&](int key_tile, const uint4& row) { Record::store_k_row(record, warp, key_tile, lane, row); });
  } else {
    store_query_tiles(s, record, q_tile, warp, lane);
  }
  __syncthreads();

  // v comes while A is inverted. A place of its own would cost a multiprocessor one of its blocks, whose
  // waiting is what bounds the kernel.
  load_tile(v_tile, args, chunk, (2 * args.key_heads + value_head) * Config::kDim);
  ptx::cp_async_commit();
  gdn_invert::invert(s.triangle);
  std::uint32_t keys[2][kGdnTokenTiles][4];
  scale_keys<Record>(keys, s, record, whole, k_tile, 2 * warp, lane);
  ptx::cp_async_wait<0>();
  __syncthreads();
  store_w_and_u<Record>(s, record, keys, v_tile, warp, lane);
}

}  // namespace branchmark::cuda
