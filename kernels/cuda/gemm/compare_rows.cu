// Bit comparison and digest of [rows, columns] bf16 matrices. Both are bound by memory.
#include "compare_rows.hpp"

#include "../ops/common.cuh"

namespace branchmark::cuda {
namespace {

using Bits = std::uint16_t;
using AtomicSum = unsigned long long;  // the type that 64-bit atomics take

struct alignas(16) Bits8 {
  Bits element[kVector];
};

__device__ __forceinline__ Bits8 load_bits8(const Bits* p, int valid) {
  Bits8 bits{};
  if (valid == kVector) {
    *reinterpret_cast<uint4*>(&bits) = *reinterpret_cast<const uint4*>(p);
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      if (i < valid) bits.element[i] = p[i];
  }
  return bits;
}

__global__ void __launch_bounds__(kRowGridThreads)
    compare_rows_kernel(const Bits* a, const Bits* b, std::int64_t columns, std::int64_t stride,
                        unsigned blocks_per_row, std::int32_t* differs) {
  const RowPlace place = row_place(blocks_per_row);
  if (place.column >= columns) return;
  const int valid = valid_at(place.column, columns);
  const std::int64_t offset = place.row * stride + place.column;
  const Bits8 left = load_bits8(a + offset, valid);
  const Bits8 right = load_bits8(b + offset, valid);
  bool same = true;
#pragma unroll
  for (int i = 0; i < kVector; ++i) same = same && left.element[i] == right.element[i];
  if (!same) atomicExch(differs, 1);
}

// The finaliser of splitmix64.
__device__ __forceinline__ std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__global__ void __launch_bounds__(kRowGridThreads)
    digest_rows_kernel(const Bits* a, std::int64_t columns, std::int64_t stride, unsigned blocks_per_row,
                       AtomicSum* digest) {
  const RowPlace place = row_place(blocks_per_row);
  std::uint64_t sum = 0;
  if (place.column < columns) {
    const int valid = valid_at(place.column, columns);
    const Bits8 bits = load_bits8(a + place.row * stride + place.column, valid);
    const std::uint64_t first = static_cast<std::uint64_t>(place.row * columns + place.column);
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      if (i < valid) sum += mix((first + i) << 16 | bits.element[i]);
  }
#pragma unroll
  for (int lane_mask = kWarpThreads / 2; lane_mask > 0; lane_mask /= 2)
    sum += __shfl_xor_sync(kFullWarp, sum, lane_mask);
  if (threadIdx.x % kWarpThreads == 0) atomicAdd(digest, static_cast<AtomicSum>(sum));
}

}  // namespace

void compare_rows(const void* a, const void* b, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                  std::int32_t* differs, cudaStream_t stream) {
  const RowGrid grid = row_grid(rows, columns, "compare_rows");
  compare_rows_kernel<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<const Bits*>(a),
                                                                static_cast<const Bits*>(b), columns, stride,
                                                                grid.blocks_per_row, differs);
  check_launch("compare_rows");
}

void digest_rows(const void* a, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                 std::uint64_t* digest, cudaStream_t stream) {
  const RowGrid grid = row_grid(rows, columns, "digest_rows");
  digest_rows_kernel<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<const Bits*>(a), columns, stride,
                                                               grid.blocks_per_row,
                                                               reinterpret_cast<AtomicSum*>(digest));
  check_launch("digest_rows");
}

}  // namespace branchmark::cuda
