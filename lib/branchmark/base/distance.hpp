// How far two sets of rows are apart. All sums in double; nothing here is gated by an absolute difference.
#pragma once

#include <cstdint>
#include <span>

namespace branchmark {

// ‖left − right‖ / ‖right‖; 0 for two zero vectors, infinite for a zero right side alone. NaN in either gives
// NaN.
double relative_l2(std::span<const float> left, std::span<const float> right);
// Largest distance of two elements in bf16 values, each rounded to bf16 first; the largest integer where one
// is NaN and the other is not.
std::int64_t max_ulp_bf16(std::span<const float> left, std::span<const float> right);

}  // namespace branchmark
