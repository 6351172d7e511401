// One shape's reference product, and the comparison of other calls with it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/device/gemm.hpp"
#include "branchmark/verify/gemm_rows.hpp"

namespace branchmark {

// Rows that differ from the reference, by their index in it.
struct RowDifferences {
  std::vector<std::int64_t> rows;
  bool wrote_outside = false;  // a row before or behind the call's own changed
};

// bf16 throughout. Used by one thread; every call waits for the stream.
class GemmRowsRig {
 public:
  using Call = std::function<void(const bmk_matrix& x, const bmk_matrix& w, const bmk_matrix& y)>;

  // Random inputs that show another order of accumulation wherever there is one. The second half of a weight
  // row is its first half negated, and in three of four rows of x the second half repeats the first. There
  // the exact product is 0, and what is found is float32's rounding error alone, which another order changes
  // in nearly every element; bf16 of plain random data hides it in all but a few of 100,000. Every fourth row
  // is plain, of standard deviation 1.
  GemmRowsRig(std::shared_ptr<Context> context, const ProjectionShape& shape, std::int64_t reference_rows,
              std::uint64_t seed);

  bmk_gemm_shape shape() const { return shape_of(x_, w_, y_); }
  std::int64_t reference_rows() const { return x_.rows; }
  // First rows to compare a call of `rows` rows at: the start, the end and an odd one between.
  std::set<std::int64_t> offsets(std::int64_t rows) const;

  // Runs the call of all rows and keeps its bytes.
  void make_reference(const Call& call);
  // Runs rows [first, first + rows) into a NaN-filled output and compares.
  RowDifferences compare(const Call& call, std::int64_t first, std::int64_t rows);
  // The comparison over the reference itself, with the lowest bit of the last element of `row` flipped.
  RowDifferences compare_flipped(std::int64_t row);
  // "row 5, column 17: found 0x3f80 (1), expected 0x3f81 (1.0078125)": the first difference of the last
  // comparison.
  const std::string& first_difference() const { return first_difference_; }

 private:
  std::size_t row_bytes() const { return static_cast<std::size_t>(y_.row_stride) * 2; }
  RowDifferences differences(const unsigned char* found, std::int64_t first, std::int64_t rows);
  void describe_difference(const unsigned char* found, const unsigned char* expected, std::int64_t row);

  std::shared_ptr<Context> context_;
  DeviceBuffer x_buffer_, w_buffer_, y_buffer_;
  bmk_matrix x_{}, w_{}, y_{};
  std::vector<unsigned char> reference_;
  std::vector<unsigned char> found_;
  std::string first_difference_;
};

}  // namespace branchmark
