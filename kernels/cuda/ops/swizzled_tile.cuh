// A tile of bf16 in shared memory that ldmatrix reads without bank conflicts: the 16-byte columns of a row
// are swapped by XOR with row mod 8, so that any eight neighbouring rows have a column in eight different
// groups of banks.
#pragma once

#include "../ptx/matrix.cuh"
#include "common.cuh"

namespace branchmark::cuda {

template <int kRowBytes>
struct SwizzledTile {
  static_assert(kRowBytes % 128 == 0, "a row is a whole number of turns through the banks");

  // Byte offset of a 16-byte column.
  static __device__ __forceinline__ std::uint32_t offset(int row, int column) {
    return static_cast<std::uint32_t>(row * kRowBytes + ((column ^ (row % 8)) * 16));
  }

  // The addresses that one lane gives to ldmatrix.x4 for 16 × 16 blocks whose first row is a multiple of 8.
  // Only the turn of the columns differs from block to block, by constants once loops are unrolled.
  class Blocks {
   public:
    // Order of the four 8 × 8 matrices: upper left, lower left, upper right, lower right.
    static __device__ __forceinline__ Blocks rows_first(std::uint32_t tile, int lane) {
      return {tile, lane % 16, lane / 16};
    }
    // Order: upper left, upper right, lower left, lower right.
    static __device__ __forceinline__ Blocks columns_first(std::uint32_t tile, int lane) {
      return {tile, lane % 8 + lane / 16 * 8, lane / 8 % 2};
    }

    // Of the block at row `row` and 16-byte column 2 · step.
    __device__ __forceinline__ std::uint32_t address(int row, int step) const {
      return base_ + static_cast<std::uint32_t>(row * kRowBytes + step / 4 * 128) +
             (turn_ ^ static_cast<std::uint32_t>(step % 4 * 32));
    }

   private:
    __device__ __forceinline__ Blocks(std::uint32_t tile, int row, int column)
        : base_(tile + static_cast<std::uint32_t>(row * kRowBytes)),
          turn_(static_cast<std::uint32_t>((column ^ (row % 8)) * 16)) {}

    std::uint32_t base_;
    std::uint32_t turn_;
  };
};

}  // namespace branchmark::cuda
