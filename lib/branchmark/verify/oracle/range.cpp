#include "branchmark/verify/oracle/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace branchmark::oracle {
namespace {

// Where x · sigmoid(x) is least: the zero of 1 + x · (1 − sigmoid(x)).
constexpr double kSiluLowest = -1.2784645427610738;

Range over_ends(const Range& x, double (*function)(double)) {
  const double a = function(x.low);
  const double b = function(x.high);
  return {std::min(a, b), function(x.nominal), std::max(a, b)};
}

}  // namespace

Range widened(const Range& range, double margin) {
  return {range.low - margin, range.nominal, range.high + margin};
}

Range in_float32(const Range& range, double relative) {
  return {range.low - std::abs(range.low) * relative - kUnderflow, range.nominal,
          range.high + std::abs(range.high) * relative + kUnderflow};
}

Range rounded(const Range& range, bmk_dtype activation) {
  if (activation != BMK_BF16) return range;
  return {to_bf16(range.low), to_bf16(range.nominal), to_bf16(range.high)};
}

Range operator+(const Range& a, const Range& b) {
  return {a.low + b.low, a.nominal + b.nominal, a.high + b.high};
}

Range operator-(const Range& a, const Range& b) {
  return {a.low - b.high, a.nominal - b.nominal, a.high - b.low};
}

Range operator*(const Range& a, const Range& b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, a.nominal * b.nominal, high};
}

Range silu(const Range& x) {
  auto result = over_ends(x, [](double v) { return silu(v); });
  if (x.low < kSiluLowest && x.high > kSiluLowest) result.low = silu(kSiluLowest);
  return in_float32(result, kFewSteps);
}

Range sigmoid(const Range& x) {
  return in_float32(over_ends(x, [](double v) { return sigmoid(v); }), kFewSteps);
}

double silu(double x) {
  return x * sigmoid(x);
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

double to_bf16(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  constexpr int kSignificantBits = 8;
  constexpr int kLeastExponent = -133;  // of the smallest subnormal
  constexpr double kLargest = 0x1.FEp127;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - kSignificantBits, kLeastExponent);
  const double result = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  if (std::abs(result) <= kLargest) return result;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

}  // namespace branchmark::oracle
