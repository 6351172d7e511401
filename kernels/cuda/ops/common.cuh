// What the device code of all ops shares: vectors of eight elements, the rounding that a storage type stands
// for, sigmoid and SiLU, and sums over a warp or block in one fixed tree.
//
// An op is written for a storage type T of its activations: __nv_bfloat16 (numerics DEFAULT and GDN_FP32) or
// float (REFERENCE). Where the formula says "round", the code says round_to<T>, which for float is nothing.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "../ptx/approximate.cuh"
#include "../stream.hpp"
#include "../validate.hpp"

namespace branchmark::cuda {

inline constexpr int kWarpThreads = 32;
inline constexpr unsigned kFullWarp = 0xFFFFFFFFu;
// Elements that one thread moves at a time: 16 bytes of bf16, twice 16 bytes of float. Row strides are
// multiples of it, so that a vector never straddles two rows.
inline constexpr int kVector = 8;

template <typename T>
struct alignas(16) Raw8 {
  T element[kVector];
};
static_assert(sizeof(Raw8<__nv_bfloat16>) == 16, "eight bf16 are one 16-byte access");
static_assert(sizeof(Raw8<float>) == 32, "eight floats are two 16-byte accesses");

struct Float8 {
  float element[kVector];
};

__device__ __forceinline__ float to_float(float x) {
  return x;
}
__device__ __forceinline__ float to_float(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

// Rounds to nearest even.
template <typename T>
__device__ __forceinline__ T from_float(float x) {
  if constexpr (sizeof(T) == sizeof(float))
    return x;
  else
    return __float2bfloat16_rn(x);
}

// The value that storing x as T and reading it again gives.
template <typename T>
__device__ __forceinline__ float round_to(float x) {
  return to_float(from_float<T>(x));
}

// Elements of the vector that begins at `column`, in a row of `columns`: 8, less at the row's end.
__device__ __forceinline__ int valid_at(std::int64_t column, std::int64_t columns) {
  const std::int64_t left = columns - column;
  return left < kVector ? static_cast<int>(left) : kVector;
}

// Loads the first `valid` of eight elements without conversion; the others are zeros. `p` is 16-byte aligned.
template <typename T>
__device__ __forceinline__ Raw8<T> load_raw8(const T* p, int valid = kVector) {
  Raw8<T> raw;
  if (valid == kVector) {
    constexpr int kWords = sizeof(Raw8<T>) / sizeof(uint4);
#pragma unroll
    for (int i = 0; i < kWords; ++i) reinterpret_cast<uint4*>(&raw)[i] = reinterpret_cast<const uint4*>(p)[i];
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i) raw.element[i] = i < valid ? p[i] : from_float<T>(0.0f);
  }
  return raw;
}

template <typename T>
__device__ __forceinline__ void store_raw8(T* p, const Raw8<T>& raw, int valid = kVector) {
  if (valid == kVector) {
    constexpr int kWords = sizeof(Raw8<T>) / sizeof(uint4);
#pragma unroll
    for (int i = 0; i < kWords; ++i) reinterpret_cast<uint4*>(p)[i] = reinterpret_cast<const uint4*>(&raw)[i];
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      if (i < valid) p[i] = raw.element[i];
  }
}

template <typename T>
__device__ __forceinline__ Float8 load8(const T* p, int valid = kVector) {
  const Raw8<T> raw = load_raw8(p, valid);
  Float8 values;
#pragma unroll
  for (int i = 0; i < kVector; ++i) values.element[i] = to_float(raw.element[i]);
  return values;
}

template <typename T>
__device__ __forceinline__ void store8(T* p, const Float8& values, int valid = kVector) {
  Raw8<T> raw;
#pragma unroll
  for (int i = 0; i < kVector; ++i) raw.element[i] = from_float<T>(values.element[i]);
  store_raw8(p, raw, valid);
}

// 1 + e^−x. Where T is bf16, what becomes of it is rounded to eight bits, and a few ulp of the special
// function unit do; it takes far fewer instructions. No compiler flag has a part in either.
template <typename T>
__device__ __forceinline__ float one_plus_exp_of_negative(float x) {
  constexpr float kLog2E = 1.44269504088896340736f;
  if constexpr (sizeof(T) == sizeof(float))
    return 1.0f + expf(-x);
  else
    return 1.0f + ptx::exp2_approximate(-kLog2E * x);
}

template <typename T>
__device__ __forceinline__ float sigmoid(float x) {
  if constexpr (sizeof(T) == sizeof(float))
    return 1.0f / one_plus_exp_of_negative<T>(x);
  else
    return ptx::reciprocal_approximate(one_plus_exp_of_negative<T>(x));
}

// x · sigmoid(x).
template <typename T>
__device__ __forceinline__ float silu(float x) {
  if constexpr (sizeof(T) == sizeof(float))
    return x / one_plus_exp_of_negative<T>(x);
  else
    return x * sigmoid<T>(x);
}

// 1 / sqrt(x), both correctly rounded.
__device__ __forceinline__ float reciprocal_sqrt(float x) {
  return 1.0f / sqrtf(x);
}

// Sum over each aligned group of kLanes lanes, given to all of them. A butterfly: every lane adds the same
// pairs.
template <int kLanes = kWarpThreads>
__device__ __forceinline__ float warp_sum(float x) {
  static_assert(kLanes > 0 && kLanes <= kWarpThreads && (kLanes & (kLanes - 1)) == 0,
                "a group is a power of two within a warp");
#pragma unroll
  for (int lane_mask = kLanes / 2; lane_mask > 0; lane_mask /= 2)
    x += __shfl_xor_sync(kFullWarp, x, lane_mask);
  return x;
}

// Sum over a block of whole warps, given to all threads. The tree depends on the block's size alone. Once in
// a kernel for one `partial`: it does not wait before a second use.
__device__ __forceinline__ float block_sum(float x, float (&partial)[kWarpThreads]) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
  const int num_warps = static_cast<int>(blockDim.x) / kWarpThreads;
  x = warp_sum(x);
  if (lane == 0) partial[warp] = x;
  __syncthreads();
  return warp_sum(lane < num_warps ? partial[lane] : 0.0f);
}

// Calls f with a null pointer whose type names the storage type that `dtype` stands for.
template <typename F>
void for_dtype(bmk_dtype dtype, F&& f) {
  if (dtype == BMK_BF16)
    f(static_cast<__nv_bfloat16*>(nullptr));
  else
    f(static_cast<float*>(nullptr));
}

template <typename Pointer>
using pointee = std::remove_pointer_t<Pointer>;

// A row-wise grid for work on vectors: each row is cut into `blocks_per_row` blocks of `threads`, a choice
// made by the row's length alone.
inline constexpr int kRowGridThreads = 256;  // at most, for __launch_bounds__

struct RowGrid {
  unsigned blocks = 0;
  unsigned threads = 0;
  unsigned blocks_per_row = 0;
};

inline RowGrid row_grid(std::int64_t rows, std::int64_t columns, const char* op) {
  const std::int64_t vectors = ceil_div(columns, kVector);
  const std::int64_t threads = vectors < kRowGridThreads ? round_up(vectors, kWarpThreads) : kRowGridThreads;
  const std::int64_t blocks_per_row = ceil_div(vectors, threads);
  return {grid_of(rows * blocks_per_row, op), static_cast<unsigned>(threads),
          static_cast<unsigned>(blocks_per_row)};
}

// The vector that a thread of a RowGrid owns; column may lie past the row's end.
struct RowPlace {
  std::int64_t row;
  std::int64_t column;
};

__device__ __forceinline__ RowPlace row_place(unsigned blocks_per_row) {
  const unsigned part = blockIdx.x % blocks_per_row;
  return {static_cast<std::int64_t>(blockIdx.x / blocks_per_row),
          (static_cast<std::int64_t>(part) * blockDim.x + threadIdx.x) * kVector};
}

}  // namespace branchmark::cuda
