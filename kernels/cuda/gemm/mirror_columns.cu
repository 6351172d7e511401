// Copies half of each row over the other half. Bound by memory; halves need not be aligned, so that each
// thread moves one element.
#include "../ops/common.cuh"
#include "mirror_columns.hpp"

namespace branchmark::cuda {
namespace {

using Bits = std::uint16_t;
constexpr Bits kSignBit = 0x8000;
constexpr int kMirrorThreads = 256;

__global__ void __launch_bounds__(kMirrorThreads)
    mirror_columns_kernel(Bits* data, std::int64_t half, std::int64_t stride, unsigned blocks_per_row,
                          Bits turned_bits) {
  const std::int64_t row = blockIdx.x / blocks_per_row;
  const std::int64_t column =
      static_cast<std::int64_t>(blockIdx.x % blocks_per_row) * kMirrorThreads + threadIdx.x;
  if (column >= half) return;
  Bits* line = data + row * stride;
  line[half + column] = static_cast<Bits>(line[column] ^ turned_bits);
}

}  // namespace

void mirror_columns(void* data, std::int64_t rows, std::int64_t columns, std::int64_t stride, MirrorSign sign,
                    cudaStream_t stream) {
  const std::int64_t half = columns / 2;
  if (half == 0) return;
  const std::int64_t blocks_per_row = ceil_div(half, kMirrorThreads);
  const unsigned blocks = grid_of(rows * blocks_per_row, "mirror_columns");
  mirror_columns_kernel<<<blocks, kMirrorThreads, 0, stream>>>(
      static_cast<Bits*>(data), half, stride, static_cast<unsigned>(blocks_per_row),
      sign == MirrorSign::kTurned ? kSignBit : Bits{0});
  check_launch("mirror_columns");
}

}  // namespace branchmark::cuda
