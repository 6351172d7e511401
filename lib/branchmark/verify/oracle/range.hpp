// What an op may answer: interval arithmetic over the float32 steps and bf16 roundings of a formula.
//
// An op that rounds several times cannot be held to one number: where an inner value lies at the middle of
// two bf16 values, float32 arithmetic of any order may take either, and the steps behind it carry that on. A
// Range carries both ends through, so that an element away from such a middle must have exactly the oracle's
// bits, and one beside it may have two values. For an op that rounds once this is the bound of 1 ulp, and a
// tighter one for all but a few elements in a thousand. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "branchmark/kernels.h"

namespace branchmark::oracle {

// low <= nominal <= high; nominal is the formula in float64 with the op's own rounding points.
struct Range {
  double low = 0;
  double nominal = 0;
  double high = 0;
};

// Relative slack of a float32 result made of a few correctly rounded steps and one exp or log1p of 4 ulp.
inline constexpr double kFewSteps = 0x1p-20;
// Relative slack where a sum of up to some thousand squares stands under a square root: half of the sum's
// error, which for a plain running sum grows as 2^-24 · sqrt(terms).
inline constexpr double kRootOfSum = 0x1p-17;
// Absolute slack: float32 overflows and underflows before float64 does (e^-x in a sigmoid, subnormals).
inline constexpr double kUnderflow = 0x1p-120;

constexpr Range exactly(double value) {
  return {value, value, value};
}
// Both ends moved out by `margin` >= 0.
Range widened(const Range& range, double margin);
// Both ends moved out by their own size times `relative`, and by kUnderflow.
Range in_float32(const Range& range, double relative);
// All three to the nearest bf16, ties to even, for bf16 activations; unchanged for f32.
Range rounded(const Range& range, bmk_dtype activation);

Range operator+(const Range& a, const Range& b);
Range operator-(const Range& a, const Range& b);
Range operator*(const Range& a, const Range& b);
// x · sigmoid(x) and sigmoid(x), with kFewSteps.
Range silu(const Range& x);
Range sigmoid(const Range& x);

double silu(double x);
double sigmoid(double x);
// The nearest bf16, ties to even, rounded once; past the largest, infinity.
double to_bf16(double value);

// A [rows, columns] matrix of allowed answers, row-major.
struct Expected {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Range> values;

  Expected(std::int64_t num_rows, std::int64_t num_columns)
      : rows(num_rows), columns(num_columns), values(static_cast<std::size_t>(num_rows * num_columns)) {}
  Range& at(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  const Range& at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

}  // namespace branchmark::oracle
