// y[M, N] = x[M, K] · w[N, K]ᵀ in bf16 for M of at most 64, by mma.sync; see few_rows.hpp.
//
// A block makes kRows rows × kColumns columns of y: rows of w are the 16 rows of the instruction, rows of x
// its 8 columns. Four warps fill a ring of stages of 128 columns of K by cp.async; those that have a part of
// the tile multiply it. Every sum is one warp's chain over K = 0, 16, 32, ..., onto zero. Bound by reading w,
// which is read once, and for more rows by reading x, which is read for every kColumns of w.
//
// A row of a stage has 256 bytes; its 16-byte piece p stands at piece p ^ (row mod 8), so that neither the
// copies nor ldmatrix meet in a bank.
#include "../ops/common.cuh"
#include "../ptx/cp_async.cuh"
#include "../ptx/matrix.cuh"
#include "../ptx/mma.cuh"
#include "few_rows.hpp"

namespace branchmark::cuda {
namespace {

template <int kRows, int kColumns>
struct MmaConfig {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * kWarpThreads;
  static constexpr int kMinBlocks = 2;  // of a multiprocessor
  static constexpr int kWarpsDown = kColumns / 16;
  static constexpr int kMostAcross = kWarps / kWarpsDown;
  static constexpr int kWarpsAcross = kRows / 8 < kMostAcross ? kRows / 8 : kMostAcross;
  static constexpr int kTiles = kRows / 8 / kWarpsAcross;  // of 8 rows of x, for a warp
  static constexpr int kRowBytes = kFewRowsStageInner * kBf16Bytes;
  static constexpr int kPieces = kRowBytes / 16;
  static constexpr int kWBytes = kColumns * kRowBytes;
  static constexpr int kStageBytes = few_rows_stage_bytes(kRows, kColumns);
  static constexpr int kStages = few_rows_stages(FewRowsFamily::kMma, kRows, kColumns);
  static constexpr int kSharedBytes = kStages * kStageBytes;
  static_assert(kWBytes + kRows * kRowBytes == kStageBytes, "stages are counted by these bytes");
  static_assert(kTiles * kWarpsAcross * 8 == kRows, "warps share the rows evenly");
  static_assert(kRows * kPieces % kThreads == 0 && kColumns * kPieces % kThreads == 0,
                "each thread copies the same number of pieces");
};

// Where the piece of a row stands, from the row's matrix on.
__device__ __forceinline__ std::uint32_t piece_offset(int row, int piece) {
  constexpr int kRowBytes = kFewRowsStageInner * kBf16Bytes;
  return static_cast<std::uint32_t>(row * kRowBytes + (piece ^ (row & 7)) * 16);
}

// A matrix in memory of which the block copies kTileRows rows from `first_row` on; zeros past its ends.
struct Source {
  const __nv_bfloat16* data;
  std::int64_t stride;
  std::int64_t rows;
  std::int64_t first_row;
};

template <int kTileRows, typename Config>
__device__ __forceinline__ void copy_rows(const Source& source, std::int64_t inner, std::int64_t first_k,
                                          std::uint32_t shared) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int round = 0; round < kTileRows * Config::kPieces / Config::kThreads; ++round) {
    const int index = round * Config::kThreads + thread;
    const int row = index / Config::kPieces;
    const int piece = index % Config::kPieces;
    const std::int64_t k = first_k + piece * kVector;
    const bool present = source.first_row + row < source.rows && k < inner;
    const __nv_bfloat16* from =
        present ? source.data + (source.first_row + row) * source.stride + k : source.data;
    ptx::cp_async_16_or_zeros(shared + piece_offset(row, piece), from, present);
  }
}

// The products of one stage: 32 columns of K at a time.
template <typename Config>
__device__ __forceinline__ void multiply_stage(std::uint32_t w_rows, std::uint32_t x_rows, int lane,
                                               float (&sums)[Config::kTiles][4]) {
#pragma unroll
  for (int pair = 0; pair < kFewRowsStageInner / 32; ++pair) {
    std::uint32_t w[2][4];
#pragma unroll
    for (int step = 0; step < 2; ++step)
      ptx::ldmatrix_x4(w[step], w_rows + piece_offset(lane % 16, pair * 4 + step * 2 + lane / 16));
#pragma unroll
    for (int tile = 0; tile < Config::kTiles; ++tile) {
      std::uint32_t x[4];
      ptx::ldmatrix_x4(x, x_rows + piece_offset(tile * 8 + lane % 8, pair * 4 + lane / 8));
      ptx::mma_m16n8k16(sums[tile], w[0], x[0], x[1]);
      ptx::mma_m16n8k16(sums[tile], w[1], x[2], x[3]);
    }
  }
}

template <int kRows, int kColumns>
__global__ void __launch_bounds__(MmaConfig<kRows, kColumns>::kThreads,
                                  MmaConfig<kRows, kColumns>::kMinBlocks)
    few_rows_mma_kernel(const __nv_bfloat16* x, std::int64_t x_stride, const __nv_bfloat16* w,
                        std::int64_t w_stride, __nv_bfloat16* y, std::int64_t y_stride, std::int64_t rows,
                        std::int64_t columns, std::int64_t inner) {
  using Config = MmaConfig<kRows, kColumns>;
  extern __shared__ __align__(256) unsigned char memory[];
  const std::uint32_t stages = ptx::shared_address(memory);
  const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const int warp_down = warp % Config::kWarpsDown;
  const int warp_across = warp / Config::kWarpsDown;
  const bool multiplies = warp_across < Config::kWarpsAcross;
  const int first_x_row = warp_across * Config::kTiles * 8;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * kColumns;

  const Source w_source = {w, w_stride, columns, first_column};
  const Source x_source = {x, x_stride, rows, 0};
  const int num_stages = static_cast<int>((inner + kFewRowsStageInner - 1) / kFewRowsStageInner);
  const auto fill = [&](int k) {
    if (k < num_stages) {
      const std::uint32_t stage =
          stages + static_cast<std::uint32_t>(k % Config::kStages * Config::kStageBytes);
      const std::int64_t first_k = static_cast<std::int64_t>(k) * kFewRowsStageInner;
      copy_rows<kColumns, Config>(w_source, inner, first_k, stage);
      copy_rows<kRows, Config>(x_source, inner, first_k, stage + Config::kWBytes);
    }
    ptx::cp_async_commit();
  };

  float sums[Config::kTiles][4] = {};
  for (int k = 0; k < Config::kStages - 1; ++k) fill(k);
  for (int k = 0; k < num_stages; ++k) {
    // Also says that no warp still reads the stage that is filled next.
    ptx::cp_async_wait<Config::kStages - 2>();
    __syncthreads();
    fill(k + Config::kStages - 1);
    const std::uint32_t stage =
        stages + static_cast<std::uint32_t>(k % Config::kStages * Config::kStageBytes);
    const std::uint32_t w_rows = stage + static_cast<std::uint32_t>(warp_down * 16 * Config::kRowBytes);
    const std::uint32_t x_rows =
        stage + static_cast<std::uint32_t>(Config::kWBytes + first_x_row * Config::kRowBytes);
    if (multiplies) multiply_stage<Config>(w_rows, x_rows, lane, sums);
  }
  ptx::cp_async_wait<0>();
  if (!multiplies) return;

#pragma unroll
  for (int tile = 0; tile < Config::kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t row = first_x_row + tile * 8 + lane % 4 * 2 + i % 2;
      const std::int64_t column = first_column + warp_down * 16 + lane / 4 + i / 2 * 8;
      if (row < rows && column < columns) y[row * y_stride + column] = __float2bfloat16_rn(sums[tile][i]);
    }
  }
}

template <int kRows, int kColumns>
void launch(const FewRowsProduct& product, cudaStream_t stream) {
  using Config = MmaConfig<kRows, kColumns>;
  const bmk_gemm_shape& shape = product.shape;
  const auto kernel = few_rows_mma_kernel<kRows, kColumns>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Config::kSharedBytes),
        "gemm");
  const unsigned blocks = grid_of(ceil_div(shape.n, kColumns), "gemm");
  kernel<<<blocks, Config::kThreads, Config::kSharedBytes, stream>>>(
      static_cast<const __nv_bfloat16*>(product.x), shape.x_stride,
      static_cast<const __nv_bfloat16*>(product.w), shape.w_stride, static_cast<__nv_bfloat16*>(product.y),
      shape.y_stride, product.rows, shape.n, shape.k);
  check_launch("gemm");
}

template <int kRows>
void launch_columns(const FewRowsSettings& settings, const FewRowsProduct& product, cudaStream_t stream) {
  switch (settings.tile_columns) {
    case 16:
      return launch<kRows, 16>(product, stream);
    case 32:
      return launch<kRows, 32>(product, stream);
    default:
      fail(BMK_FAILED, "gemm: no kernel for " + fingerprint(settings));
  }
}

}  // namespace

void few_rows_mma(const FewRowsSettings& settings, const FewRowsProduct& product, cudaStream_t stream) {
  switch (settings.tile_rows) {
    case 8:
      return launch_columns<8>(settings, product, stream);
    case 32:
      return launch_columns<32>(settings, product, stream);
    case 64:
      return launch_columns<64>(settings, product, stream);
    default:
      fail(BMK_FAILED, "gemm: no kernel for " + fingerprint(settings));
  }
}

}  // namespace branchmark::cuda
