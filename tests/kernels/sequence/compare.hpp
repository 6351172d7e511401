// How far a result is from an oracle, and a digest for bits that must not change.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sequence/array.hpp"

namespace branchmark::cpu::test {

inline bmk_dtype activation(bmk_numerics numerics) {
  return numerics == BMK_NUMERICS_REFERENCE ? BMK_F32 : BMK_BF16;
}

inline double relative_l2(const std::vector<double>& got, const std::vector<double>& want) {
  double difference = 0.0;
  double norm = 0.0;
  for (size_t i = 0; i < want.size(); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    norm += want[i] * want[i];
  }
  return std::sqrt(difference / norm);
}

inline std::vector<double> values_of(const Array& array) {
  std::vector<double> values;
  for (int64_t r = 0; r < array.rows(); ++r) {
    for (int64_t c = 0; c < array.columns(); ++c) values.push_back(static_cast<double>(array.at(r, c)));
  }
  return values;
}

inline bool all_finite(const Array& array) {
  for (const double x : values_of(array)) {
    if (!std::isfinite(x)) return false;
  }
  return true;
}

// FNV-1a.
inline uint64_t digest(const std::vector<uint8_t>& bytes, uint64_t hash = 0xCBF29CE484222325u) {
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

// An error far below the rounding of operands to bf16 would mean that a rounding is missing.
inline constexpr double kLeastDefaultError = 1e-3;

}  // namespace branchmark::cpu::test
