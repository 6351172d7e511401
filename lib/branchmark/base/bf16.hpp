// bfloat16 on the host: the upper half of a float32, rounded to nearest even.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace branchmark {

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// NaN stays NaN (quiet), infinities stay, values past the largest bf16 become infinite.
inline std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Distance in units in the last place of bf16: the number of representable values between the two. Both
// finite.
inline std::int32_t ulp_distance_bf16(std::uint16_t a, std::uint16_t b) {
  const auto ordered = [](std::uint16_t x) {
    return (x & 0x8000u) ? -static_cast<std::int32_t>(x & 0x7fffu) : static_cast<std::int32_t>(x);
  };
  const std::int32_t d = ordered(a) - ordered(b);
  return d < 0 ? -d : d;
}

}  // namespace branchmark
