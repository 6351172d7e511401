// y ← round(y + scale · B (A x)), float32 inside.
//
// x: [rows, K], y: [rows, N], bf16 or f32; a: [rank, K], b: [N, rank], f32; workspace: [rows, rank] f32. Two
// kernels, both with a fixed order for each row:
//   down: a warp takes one rank of four rows; each lane adds its vectors of K in order, a butterfly the lanes
//   up:   a thread takes eight columns of four rows and adds the ranks in order
// Four rows share each load of A or B; a row's sums do not mix with its neighbours'. Bound by L2 traffic of A
// and B.
#include "common.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

struct LoraConfig {
  static constexpr int kMaxRank = 128;
  static constexpr int kRows = 4;
  static constexpr int kDownThreads = 256;
  static constexpr int kUpThreads = 128;
  static constexpr int kUpColumns = kUpThreads * kVector;  // of one block
  static constexpr int kRankStep = 4;                      // ranks in one 16-byte load of B
  static_assert(kMaxRank % kRankStep == 0, "shared memory holds whole steps");
};

template <typename T>
__global__ void __launch_bounds__(LoraConfig::kDownThreads)
    lora_down_kernel(const T* x, std::int64_t x_stride, std::int64_t rows, const float* a,
                     std::int64_t a_stride, std::int64_t inner, int rank, float* low) {
  constexpr int kRows = LoraConfig::kRows;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kRows;
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  for (int r = static_cast<int>(threadIdx.x) / kWarpThreads; r < rank;
       r += LoraConfig::kDownThreads / kWarpThreads) {
    float sums[kRows] = {};
    for (std::int64_t k = lane * kVector; k < inner; k += kWarpThreads * kVector) {
      const int valid = valid_at(k, inner);
      const Float8 weights = load8(a + r * a_stride + k, valid);
#pragma unroll
      for (int j = 0; j < kRows; ++j) {
        // Past the last row: the last row again, whose sum is then not stored.
        const std::int64_t row = first_row + j < rows ? first_row + j : rows - 1;
        const Float8 values = load8(x + row * x_stride + k, valid);
#pragma unroll
        for (int i = 0; i < kVector; ++i) sums[j] = fmaf(weights.element[i], values.element[i], sums[j]);
      }
    }
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      const float sum = warp_sum(sums[j]);
      if (lane == 0 && first_row + j < rows) low[(first_row + j) * rank + r] = sum;
    }
  }
}

// Four ranks of one row of B, zeros past the last.
__device__ __forceinline__ float4 load_ranks(const float* p, int valid) {
  if (valid >= LoraConfig::kRankStep) return *reinterpret_cast<const float4*>(p);
  return {valid > 0 ? p[0] : 0.0f, valid > 1 ? p[1] : 0.0f, valid > 2 ? p[2] : 0.0f, 0.0f};
}

template <typename T>
__global__ void __launch_bounds__(LoraConfig::kUpThreads)
    lora_up_kernel(const float* low, std::int64_t rows, const float* b, std::int64_t b_stride, int rank,
                   float scale, T* y, std::int64_t y_stride, std::int64_t columns, unsigned blocks_per_row) {
  constexpr int kRows = LoraConfig::kRows;
  __shared__ float4 shared[kRows][LoraConfig::kMaxRank / LoraConfig::kRankStep];
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x / blocks_per_row) * kRows;
  for (int i = static_cast<int>(threadIdx.x); i < kRows * LoraConfig::kMaxRank; i += LoraConfig::kUpThreads) {
    const int j = i / LoraConfig::kMaxRank;
    const int r = i % LoraConfig::kMaxRank;
    const bool present = r < rank && first_row + j < rows;
    reinterpret_cast<float*>(shared)[i] = present ? low[(first_row + j) * rank + r] : 0.0f;
  }
  __syncthreads();

  const std::int64_t column = row_place(blocks_per_row).column;
  if (column >= columns) return;
  const int valid = valid_at(column, columns);
  float sums[kRows][kVector] = {};
  for (int r = 0; r < rank; r += LoraConfig::kRankStep) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      // Past the last column: the last column again, whose sum is then not stored.
      const std::int64_t n = column + (i < valid ? i : valid - 1);
      const float4 weights = load_ranks(b + n * b_stride + r, rank - r);
#pragma unroll
      for (int j = 0; j < kRows; ++j) {
        const float4 values = shared[j][r / LoraConfig::kRankStep];
        float sum = fmaf(weights.x, values.x, sums[j][i]);
        sum = fmaf(weights.y, values.y, sum);
        sum = fmaf(weights.z, values.z, sum);
        sums[j][i] = fmaf(weights.w, values.w, sum);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    if (first_row + j >= rows) break;
    T* place = y + (first_row + j) * y_stride + column;
    Float8 values = load8(place, valid);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values.element[i] = fmaf(scale, sums[j][i], values.element[i]);
    store8(place, values, valid);
  }
}

void require_lora(const bmk_lora_delta_args* args) {
  require_args(args, "lora_delta");
  if (args->a.rows > LoraConfig::kMaxRank)
    fail(BMK_UNSUPPORTED, "lora_delta: rank " + std::to_string(args->a.rows) + ", the limit is " +
                              std::to_string(LoraConfig::kMaxRank));
  require_at_least(args->a.rows, 1, "lora_delta: a.rows (the rank)");
  require_at_least(args->y.rows, 0, "lora_delta: y.rows");
}

std::int64_t workspace_bytes(const bmk_lora_delta_args& args) {
  return args.y.rows * args.a.rows * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

bmk_status lora_delta_workspace(bmk_device* device, const bmk_lora_delta_args* args, std::int64_t* bytes) {
  return guarded([&] {
    require_pointer(device, "lora_delta_workspace: device");
    require_pointer(bytes, "lora_delta_workspace: bytes");
    require_lora(args);
    *bytes = workspace_bytes(*args);
  });
}

bmk_status lora_delta(bmk_stream* stream, const bmk_lora_delta_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_lora(args);
    const bmk_matrix& x = args->x;
    const bmk_matrix& a = args->a;
    const bmk_matrix& b = args->b;
    const bmk_matrix& y = args->y;
    require_matrix(y, "lora_delta: y");
    require_numerics(args->numerics, y.dtype, "lora_delta");
    require_matrix(x, "lora_delta: x", y.rows, x.columns, y.dtype);
    require_matrix(a, "lora_delta: a", a.rows, x.columns, BMK_F32);
    require_matrix(b, "lora_delta: b", y.columns, a.rows, BMK_F32);
    if (y.rows == 0 || y.columns == 0) return;
    require_workspace(args->workspace, args->workspace_bytes, workspace_bytes(*args), "lora_delta");

    const std::int64_t row_tiles = ceil_div(y.rows, LoraConfig::kRows);
    const std::int64_t blocks_per_row = ceil_div(y.columns, LoraConfig::kUpColumns);
    const unsigned down_blocks = grid_of(row_tiles, "lora_delta");
    const unsigned up_blocks = grid_of(row_tiles * blocks_per_row, "lora_delta");
    const int rank = static_cast<int>(a.rows);
    float* low = static_cast<float*>(args->workspace);
    for_dtype(y.dtype, [&](auto* type) {
      using T = pointee<decltype(type)>;
      lora_down_kernel<T><<<down_blocks, LoraConfig::kDownThreads, 0, queue>>>(
          static_cast<const T*>(x.data), x.row_stride, y.rows, static_cast<const float*>(a.data),
          a.row_stride, x.columns, rank, low);
      check_launch("lora_delta");
      lora_up_kernel<T><<<up_blocks, LoraConfig::kUpThreads, 0, queue>>>(
          low, y.rows, static_cast<const float*>(b.data), b.row_stride, rank, args->scale,
          static_cast<T*>(y.data), y.row_stride, y.columns, static_cast<unsigned>(blocks_per_row));
    });
    check_launch("lora_delta");
  });
}

}  // namespace branchmark::cuda
