#include "branchmark/base/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "branchmark/base/bf16.hpp"

namespace branchmark {

double relative_l2(std::span<const float> left, std::span<const float> right) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double d = static_cast<double>(left[i]) - static_cast<double>(right[i]);
    difference += d * d;
    norm += static_cast<double>(right[i]) * static_cast<double>(right[i]);
  }
  return difference == 0 ? 0 : std::sqrt(difference) / std::sqrt(norm);
}

std::int64_t max_ulp_bf16(std::span<const float> left, std::span<const float> right) {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (std::isnan(left[i]) != std::isnan(right[i])) return std::numeric_limits<std::int32_t>::max();
    if (std::isnan(left[i])) continue;
    largest =
        std::max<std::int64_t>(largest, ulp_distance_bf16(float_to_bf16(left[i]), float_to_bf16(right[i])));
  }
  return largest;
}

}  // namespace branchmark
