// y[M, N] = x[M, K] · w[N, K]ᵀ in bf16 for M of at most 128, by wgmma; see few_rows.hpp.
//
// A block makes 64 rows × kColumns columns of y: rows of x are the 64 rows of the instruction, rows of w its
// N, which may be as small as a device needs to have a tile for each multiprocessor. A producer thread has
// the tensor copy engine fill a ring of stages of 128 columns of K, four consumer warps multiply. Every sum
// is one chain over K = 0, 16, 32, ..., onto zero; a wide tile has several instructions' chains side by side.
//
// Bound by reading w. The chain is no bound: a product that waits for the one before takes 16 + N / 4 cycles
// (H200: 22.2 for N = 24), 6.5 us for K = 9216, in which the device reads 28 MB. Nor are the reads of x, 64
// rows for every kColumns of w; where they come near, blocks of a cluster each read a slice of the rows of x
// and hand it to all of them. A stage is filled again when all blocks of the cluster have multiplied it.
//
// Whole products of 64 rows on an H200, cold cache, us, without the products, and cuBLASLt's default, which
// splits K for the first two: N 2560, K 9216: 21.1, 20.3, 23.6; N 4096, K 12288: 33.0, 32.6, 40.8; N 2560, K
// 4096: 12.6, 12.3, 14.0; N 4096, K 4096: 15.7, 15.5, 18.3. Stages of 256 columns of K were no faster.
//
// Rows of a stage past those that are copied are zeros from the start.
#include "../ops/common.cuh"
#include "../ptx/cache_policy.cuh"
#include "../ptx/matrix.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/mma.cuh"
#include "../ptx/tensor_copy.cuh"
#include "../ptx/wgmma.cuh"
#include "few_rows.hpp"
#include "tensor_map.hpp"

namespace branchmark::cuda {
namespace {

// A wide tile is made by several instructions side by side.
constexpr int parts_of(int columns) {
  constexpr int kMostColumns = 64;
  int parts = (columns + kMostColumns - 1) / kMostColumns;
  while (columns % (8 * parts) != 0) ++parts;
  return parts;
}

template <int kColumns>
struct WgmmaConfig {
  static constexpr int kTileRows = 64;
  static constexpr int kParts = parts_of(kColumns);
  static constexpr int kPartColumns = kColumns / kParts;  // the instruction's N
  static constexpr int kConsumerWarps = 4;
  static constexpr int kThreads = (kConsumerWarps + 1) * kWarpThreads;
  static constexpr int kBoxes = kFewRowsStageInner / kBoxColumns;  // of K in a stage
  static constexpr int kBoxSteps = kBoxColumns / 16;               // instructions in a box
  static constexpr int kRowBytes = kBoxColumns * kBf16Bytes;
  static constexpr int kXBoxBytes = kTileRows * kRowBytes;
  static constexpr int kWBoxBytes = kColumns * kRowBytes;
  static constexpr int kPartBytes = kPartColumns * kRowBytes;
  static constexpr int kBoxBytes = kXBoxBytes + kWBoxBytes;
  static constexpr int kStageBytes = kBoxes * kBoxBytes;
  static constexpr int kStages = few_rows_stages(FewRowsFamily::kWgmma, kTileRows, kColumns);
  static constexpr int kGroupBytes = 8 * kRowBytes;  // that the swizzle works on
  static constexpr int kSharedBytes = kStages * kStageBytes + kGroupBytes;
  static_assert(kStageBytes == few_rows_stage_bytes(kTileRows, kColumns),
                "stages are counted by these bytes");
  static_assert(kRowBytes == 128, "rows are swizzled in 128 bytes");
  static_assert(kBoxSteps * 16 * kBf16Bytes == kRowBytes, "an instruction takes 16 columns");
  static_assert(kPartBytes % kGroupBytes == 0, "every box and part begins with a group of eight rows");
  static_assert(kSharedBytes + 2 * kStages * 8 <= 227 * 1024, "a block of sm_90 has 227 KiB");
};

struct WgmmaSizes {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t y_stride;
  int num_stages;           // of K
  int slice_rows;           // of x, that one block of a cluster copies to all
  unsigned cluster_blocks;  // neighbours in x
};

template <int kColumns>
__global__ void __launch_bounds__(WgmmaConfig<kColumns>::kThreads, 1)
    few_rows_wgmma_kernel(const __grid_constant__ CUtensorMap x_map,
                          const __grid_constant__ CUtensorMap w_map, __nv_bfloat16* y,
                          const WgmmaSizes sizes) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Config = WgmmaConfig<kColumns>;
  constexpr int kConsumers = Config::kConsumerWarps * kWarpThreads;
  extern __shared__ unsigned char memory[];
  __shared__ std::uint64_t full_barriers[Config::kStages];
  __shared__ std::uint64_t empty_barriers[Config::kStages];
  // Aligned alike in all blocks of a cluster, whose shared memory begins at the same address.
  const std::uint32_t unaligned = ptx::shared_address(memory);
  const std::uint32_t padding = (Config::kGroupBytes - unaligned % Config::kGroupBytes) % Config::kGroupBytes;
  const std::uint32_t stages = unaligned + padding;
  const std::uint32_t full = ptx::shared_address(full_barriers);
  const std::uint32_t empty = ptx::shared_address(empty_barriers);
  const auto barrier_at = [](std::uint32_t barriers, int stage) {
    return barriers + static_cast<std::uint32_t>(stage * sizeof(std::uint64_t));
  };
  const auto x_box_at = [&](int stage, int box) {
    return stages + static_cast<std::uint32_t>(stage * Config::kStageBytes + box * Config::kBoxBytes);
  };

  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / kWarpThreads;
  const int lane = thread % kWarpThreads;
  const int first_row = static_cast<int>(blockIdx.y) * Config::kTileRows;
  const int first_column = static_cast<int>(blockIdx.x) * kColumns;
  const int copied_rows = sizes.slice_rows * static_cast<int>(sizes.cluster_blocks);

  const int copied_bytes = copied_rows * Config::kRowBytes;
  if (thread == 0) {
    for (int stage = 0; stage < Config::kStages; ++stage) {
      ptx::mbarrier_init(barrier_at(full, stage), 1);
      ptx::mbarrier_init(barrier_at(empty, stage), Config::kConsumerWarps * sizes.cluster_blocks);
    }
    ptx::mbarrier_init_fence();
    ptx::prefetch_tensor_map(&x_map);
    ptx::prefetch_tensor_map(&w_map);
  }
  __syncthreads();
  ptx::cluster_barrier();

  int stage = 0;
  unsigned parity = 0;
  const auto advance = [&] {
    if (++stage < Config::kStages) return;
    stage = 0;
    parity ^= 1;
  };

  if (warp == Config::kConsumerWarps) {
    if (lane == 0) {
      // w is read once unless there are more tiles of rows.
      const std::uint64_t w_policy = gridDim.y == 1 ? ptx::evict_first_policy() : ptx::evict_normal_policy();
      const std::uint64_t x_policy = ptx::evict_normal_policy();
      const unsigned rank = blockIdx.x % sizes.cluster_blocks;
      const auto all_blocks = static_cast<std::uint16_t>((1u << sizes.cluster_blocks) - 1);
      const int slice_first = static_cast<int>(rank) * sizes.slice_rows;
      const auto slice_offset = static_cast<std::uint32_t>(slice_first * Config::kRowBytes);
      const auto stage_bytes = static_cast<unsigned>(Config::kBoxes * (copied_bytes + Config::kWBoxBytes));
      for (int k = 0; k < sizes.num_stages; ++k) {
        const std::uint32_t filled = barrier_at(full, stage);
        ptx::mbarrier_wait(barrier_at(empty, stage), parity ^ 1);
        ptx::mbarrier_arrive_expect(filled, stage_bytes);
#pragma unroll
        for (int box = 0; box < Config::kBoxes; ++box) {
          const int column = k * kFewRowsStageInner + box * kBoxColumns;
          ptx::tensor_copy(x_box_at(stage, box) + Config::kXBoxBytes, &w_map, column, first_column, filled,
                           w_policy);
          const std::uint32_t slice = x_box_at(stage, box) + slice_offset;
          if (sizes.cluster_blocks == 1)
            ptx::tensor_copy(slice, &x_map, column, first_row, filled, x_policy);
          else
            ptx::tensor_copy_multicast(slice, &x_map, column, first_row + slice_first, filled, all_blocks,
                                       x_policy);
        }
        advance();
      }
      // The block stays until all of the cluster have handed back every stage here, so that none arrives at
      // the barriers of one that is gone.
      for (int left = 0; left < Config::kStages; ++left) {
        ptx::mbarrier_wait(barrier_at(empty, stage), parity ^ 1);
        advance();
      }
    }
  } else {
    // While the first copies are under way, which do not reach these rows.
    for (int box = 0; box < Config::kStages * Config::kBoxes; ++box) {
      unsigned char* rows = memory + padding + box * Config::kBoxBytes;
      for (int byte = copied_bytes + thread * 16; byte < Config::kXBoxBytes; byte += kConsumers * 16)
        *reinterpret_cast<uint4*>(rows + byte) = uint4{};
    }
    ptx::async_proxy_fence();
    ptx::named_barrier<1, kConsumers>();

    float sums[Config::kParts][Config::kPartColumns / 2] = {};
    const auto hold_all_sums = [&] {
#pragma unroll
      for (int part = 0; part < Config::kParts; ++part) ptx::hold_sums(sums[part]);
    };
    const auto hand_back = [&](int used) {
      __syncwarp();
      if (lane < static_cast<int>(sizes.cluster_blocks))
        ptx::mbarrier_arrive_at(barrier_at(empty, used), static_cast<unsigned>(lane));
    };
    int previous_stage = 0;
    for (int k = 0; k < sizes.num_stages; ++k) {
      ptx::mbarrier_wait(barrier_at(full, stage), parity);
      hold_all_sums();
      ptx::wgmma_fence();
#pragma unroll
      for (int box = 0; box < Config::kBoxes; ++box) {
        const std::uint64_t x_box = ptx::wgmma_descriptor(x_box_at(stage, box));
        const std::uint64_t w_box = ptx::wgmma_descriptor(x_box_at(stage, box) + Config::kXBoxBytes);
#pragma unroll
        for (int step = 0; step < Config::kBoxSteps; ++step)
#pragma unroll
          for (int part = 0; part < Config::kParts; ++part)
            ptx::wgmma_k16(sums[part], x_box + step * ptx::kWgmmaStep,
                           w_box + part * Config::kPartBytes / 16 + step * ptx::kWgmmaStep);
      }
      ptx::wgmma_commit();
      // All but this stage's products are done, so that the stage before may be filled again, by each block
      // of the cluster with its slice.
      ptx::wgmma_wait<1>();
      hold_all_sums();
      if (k > 0) hand_back(previous_stage);
      previous_stage = stage;
      advance();
    }
    ptx::wgmma_wait<0>();
    hold_all_sums();
    hand_back(previous_stage);

#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t row = first_row + warp * 16 + half * 8 + lane / 4;
      if (row >= sizes.rows) continue;
      __nv_bfloat16* line = y + row * sizes.y_stride;
#pragma unroll
      for (int tile = 0; tile < kColumns / 8; ++tile) {
        const std::int64_t column = first_column + tile * 8 + lane % 4 * 2;
        const int first = tile * 4 % (Config::kPartColumns / 2) + half * 2;
        const float(&part)[Config::kPartColumns / 2] = sums[tile * 8 / Config::kPartColumns];
        const std::uint32_t pair = ptx::pack_bf16(part[first], part[first + 1]);
        if (column + 1 < sizes.columns)
          *reinterpret_cast<std::uint32_t*>(line + column) = pair;
        else if (column < sizes.columns)
          line[column] = __ushort_as_bfloat16(static_cast<unsigned short>(pair));
      }
    }
  }
#endif
}

template <int kColumns>
void launch(const FewRowsSettings& settings, const FewRowsProduct& product, cudaStream_t stream) {
  using Config = WgmmaConfig<kColumns>;
  const bmk_gemm_shape& shape = product.shape;
  const std::int64_t rows_of_tile =
      product.rows < Config::kTileRows ? product.rows : std::int64_t{Config::kTileRows};
  const std::int64_t slice_rows = round_up(ceil_div(rows_of_tile, settings.cluster_blocks), 8);
  WgmmaSizes sizes{};
  sizes.rows = product.rows;
  sizes.columns = shape.n;
  sizes.y_stride = shape.y_stride;
  sizes.num_stages = static_cast<int>(ceil_div(shape.k, kFewRowsStageInner));
  sizes.slice_rows = static_cast<int>(slice_rows);
  sizes.cluster_blocks = static_cast<unsigned>(settings.cluster_blocks);
  const CUtensorMap x_map = tensor_map({product.x, product.rows, shape.k, shape.x_stride}, sizes.slice_rows);
  const CUtensorMap w_map = tensor_map({product.w, shape.n, shape.k, shape.w_stride}, kColumns);

  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {sizes.cluster_blocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = {grid_of(round_up(ceil_div(shape.n, kColumns), settings.cluster_blocks), "gemm"),
                    static_cast<unsigned>(ceil_div(product.rows, Config::kTileRows)), 1};
  config.blockDim = {Config::kThreads, 1, 1};
  config.dynamicSmemBytes = Config::kSharedBytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  const auto kernel = few_rows_wgmma_kernel<kColumns>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Config::kSharedBytes),
        "gemm");
  check(cudaLaunchKernelEx(&config, kernel, x_map, w_map, static_cast<__nv_bfloat16*>(product.y), sizes),
        "gemm");
}

}  // namespace

void few_rows_wgmma(const FewRowsSettings& settings, const FewRowsProduct& product, cudaStream_t stream) {
  switch (settings.tile_columns) {
    case 8:
      return launch<8>(settings, product, stream);
    case 16:
      return launch<16>(settings, product, stream);
    case 24:
      return launch<24>(settings, product, stream);
    case 32:
      return launch<32>(settings, product, stream);
    case 40:
      return launch<40>(settings, product, stream);
    case 48:
      return launch<48>(settings, product, stream);
    case 64:
      return launch<64>(settings, product, stream);
    case 80:
      return launch<80>(settings, product, stream);
    case 96:
      return launch<96>(settings, product, stream);
    case 144:
      return launch<144>(settings, product, stream);
    case 192:
      return launch<192>(settings, product, stream);
    default:
      fail(BMK_FAILED, "gemm: no kernel for " + fingerprint(settings));
  }
}

}  // namespace branchmark::cuda
