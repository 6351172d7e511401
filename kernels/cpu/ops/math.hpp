// The scalar arithmetic of the CPU module: bf16, exp, log1p and what is made of them, and the one order of
// summation.
//
// Why in-tree: a libm gives other bits on another machine, and a vector libm other bits in a loop's body
// than in its tail. Everything here is IEEE additions, multiplications, divisions, one square root, integer
// operations and selects, in an order that the source fixes. A compiler may run any number of them side by
// side, but may neither fuse nor reorder them, so scalar code, vector body and tail agree to the bit on
// every processor.
//
// The module's sources are compiled once per instruction set, with BRANCHMARK_ISA naming the namespace of
// each copy. Files inside that namespace use no templates or inline functions from outside it: the linker
// would keep one copy for all, perhaps the one whose instructions this machine lacks.
//
// All functions are pure. Subnormal numbers are ordinary numbers here: the caller leaves the processor in
// its default mode (no flush to zero). A NaN stays a NaN; its sign and payload mean nothing.
#pragma once

#include <cstdint>

#include "branchmark/kernels.h"

#ifndef BRANCHMARK_ISA
#error "define BRANCHMARK_ISA: the namespace of this instruction set's copy, such as baseline or x86_64_v3"
#endif
#ifdef __FAST_MATH__
#error "compile without -ffast-math: reassociated and approximated arithmetic has no fixed bits"
#endif
#ifndef __NO_MATH_ERRNO__
#error "compile with -fno-math-errno: a square root is then one instruction and never a call"
#endif

namespace branchmark::cpu::BRANCHMARK_ISA {

inline float from_bf16(uint16_t value) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(value) << 16);
}

// To the nearest, ties to even; beyond the largest finite number to infinity; every NaN becomes 0x7FC0.
inline uint16_t to_bf16(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  const bool is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  return static_cast<uint16_t>(is_nan ? 0x7FC0u : rounded);
}

inline float round_bf16(float value) {
  return from_bf16(to_bf16(value));
}

// The rounding between two steps of an op whose activations are stored as `activation`.
inline float round_to(float value, bmk_dtype activation) {
  return activation == BMK_BF16 ? round_bf16(value) : value;
}

// Element `index` of an array of bf16 or f32.
inline float load(const void* data, int64_t index, bmk_dtype dtype) {
  return dtype == BMK_BF16 ? from_bf16(static_cast<const uint16_t*>(data)[index])
                           : static_cast<const float*>(data)[index];
}

// Rounds where the array is bf16.
inline void store(void* data, int64_t index, bmk_dtype dtype, float value) {
  if (dtype == BMK_BF16) {
    static_cast<uint16_t*>(data)[index] = to_bf16(value);
  } else {
    static_cast<float*>(data)[index] = value;
  }
}

// to[i] = from[first + i] and to[first + i] = from[i], for i in [0, count): load and store with the type
// decided once, so that the loops are vectors.
inline void load_row(float* to, const void* from, int64_t first, int64_t count, bmk_dtype dtype) {
  if (dtype == BMK_BF16) {
    const uint16_t* row = static_cast<const uint16_t*>(from) + first;
    for (int64_t i = 0; i < count; ++i) to[i] = from_bf16(row[i]);
  } else {
    const float* row = static_cast<const float*>(from) + first;
    for (int64_t i = 0; i < count; ++i) to[i] = row[i];
  }
}
inline void store_row(void* to, int64_t first, int64_t count, bmk_dtype dtype, const float* from) {
  if (dtype == BMK_BF16) {
    uint16_t* row = static_cast<uint16_t*>(to) + first;
    for (int64_t i = 0; i < count; ++i) row[i] = to_bf16(from[i]);
  } else {
    float* row = static_cast<float*>(to) + first;
    for (int64_t i = 0; i < count; ++i) row[i] = from[i];
  }
}

// 1 / sqrt(x) as two correctly rounded operations.
inline float rsqrt_f32(float x) {
  return 1.0f / __builtin_sqrtf(x);
}

// 2^exponent for exponent in [-126, 127].
inline float power_of_two(int32_t exponent) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(exponent + 127) << 23);
}

// e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln 2 / 2, and e^r from the polynomial of Cephes' expf
// (netlib.org/cephes, S. Moshier). ln 2 is split so that n · hi is exact. 2^n is applied as two powers, the
// first of them exactly, so that a subnormal result is rounded once and is not flushed. Past the range of
// float32 the clamped argument itself overflows to infinity or underflows to 0, so that -inf and +inf need
// no case.
inline float exp_f32(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  // Adding 1.5 · 2^23 leaves the nearest integer in the low bits of the sum.
  const float shifted = x * 1.44269504f + 12582912.0f;
  const float n = shifted - 12582912.0f;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = (p * (r * r) + r) + 1.0f;
  const int32_t exponent = static_cast<int32_t>(__builtin_bit_cast(uint32_t, shifted) - 0x4B400000u);
  const int32_t half = exponent >> 1;
  return (p * power_of_two(half)) * power_of_two(exponent - half);
}

// log(1 + x) for x >= -1: with u = round(1 + x) = 2^k (1 + f) and 1 + f in [sqrt(1/2), sqrt 2), it is k ln 2
// + log(1 + f) + (x - (u - 1)) / u, the last term giving back what rounding u took. log(1 + f) is the
// polynomial of Cephes' logf. -1 gives -infinity, less gives NaN.
inline float log1p_f32(float x) {
  const float u = 1.0f + x;
  // Taking sqrt(1/2) off the bits moves the wrap of the mantissa to there.
  const uint32_t wrapped = __builtin_bit_cast(uint32_t, u) - 0x3F3504F3u;
  const float k = static_cast<float>(static_cast<int32_t>(wrapped) >> 23);
  const float f = __builtin_bit_cast(float, (wrapped & 0x007FFFFFu) + 0x3F3504F3u) - 1.0f;
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  const float square = f * f;
  const float small = (f * square) * p - 0.5f * square;
  const float lost = (x - (u - 1.0f)) / u;
  float result = ((small + (lost + k * -2.12194440e-4f)) + f) + k * 0.693359375f;
  const float infinity = __builtin_inff();
  result = u > 0.0f ? result : (x == -1.0f ? -infinity : __builtin_nanf(""));
  return u < infinity ? result : u;
}

// 1 / (1 + e^-x); 0 where e^-x overflows, below about -88.7.
inline float sigmoid(float x) {
  return 1.0f / (1.0f + exp_f32(-x));
}

// x · sigmoid(x) with one division.
inline float silu(float x) {
  return x / (1.0f + exp_f32(-x));
}

// log(1 + e^x), which above 20 is x to float32's precision.
inline float softplus(float x) {
  const float soft = log1p_f32(exp_f32(x));
  return x > 20.0f ? x : soft;
}

// term(0) + ... + term(n - 1): lane i of 16 takes the terms i, i + 16, ... in that order, the last
// incomplete round included, and a fixed binary tree adds the lanes.
template <class F>
inline float sum16(int64_t n, F term) {
  float lanes[16] = {};
  int64_t base = 0;
  for (; base + 16 <= n; base += 16) {
    for (int64_t lane = 0; lane < 16; ++lane) lanes[lane] += term(base + lane);
  }
  for (int64_t lane = 0; base + lane < n; ++lane) lanes[lane] += term(base + lane);
  for (int64_t width = 8; width > 0; width /= 2) {
    for (int64_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
