// The vector of the instruction set that a file is compiled for, and the tile of outputs that its registers
// hold. A lane is one output: lanes run over the columns of y, never over k, so their number changes no bit.
#pragma once

#include <cstdint>
#include <cstring>

namespace branchmark::cpu::BRANCHMARK_ISA {

// kTileRows · kTileVectors accumulators, kTileVectors weights, one value of x and one product have to fit the
// registers: 32 with AVX-512 and on aarch64, 16 elsewhere on x86-64.
#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = 4;
#elif defined(__AVX__)
inline constexpr int kLanes = 8;
inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = 2;
#elif defined(__aarch64__)
inline constexpr int kLanes = 4;
inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = 4;
#else
inline constexpr int kLanes = 4;
inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = 2;
#endif
inline constexpr int kTileColumns = kTileVectors * kLanes;
static_assert(64 % kTileColumns == 0, "a block's columns, a multiple of 64, must be whole tiles");

using Floats [[gnu::vector_size(4 * kLanes)]] = float;
using Words [[gnu::vector_size(4 * kLanes)]] = uint32_t;

inline Floats load_floats(const float* from) {
  Floats value;
  memcpy(&value, from, sizeof value);
  return value;
}
inline void store_floats(float* to, Floats value) {
  memcpy(to, &value, sizeof value);
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
