// A GEMM handle of the CPU module.
//
//   DEFAULT  by rows: split K into 4 up to 16, into 2 up to 64, two interleaved sums up to 256, ordered
//   above.
//            Bits change with the number of rows on purpose: it stands in for a vendor's heuristic.
//   FIXED    kGemmAlgorithms[0] for every number of rows. Proves nothing and marks itself alone as the class.
//   CLASS    per bucket of rows the fastest of the algorithms that `prepare` found, by running them, to give
//   the
//            fixed one's bits.
//
// A class is found in a fraction of a second, so it is always proven anew; the option `cache_file` is not
// used. Used by one thread at a time; scratch memory belongs to the handle and does not grow.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gemm/class_table.hpp"
#include "gemm/runner.hpp"

namespace branchmark::cpu {

class GemmHandle {
 public:
  struct Shape {
    bmk_gemm_shape shape;
    std::set<int64_t> row_counts;
    ClassTable table;
  };

  GemmHandle(bmk_device& device, bmk_gemm_kind kind) : runner_(device), kind_(kind) {}

  // `shape` was checked. Throws Failure for a row count below 1.
  void prepare(const bmk_gemm_shape& shape, const int64_t* row_counts, int64_t num_row_counts);

  // Throw Failure where the shape was not prepared; `chosen` of DEFAULT answers for any shape.
  const Shape& prepared(const bmk_gemm_shape& shape) const;
  int64_t chosen(const bmk_gemm_shape& shape, int64_t rows) const;

  // Arguments were checked.
  void run(int64_t algorithm, const bmk_gemm_args& args) const {
    runner_.run(kGemmAlgorithms[algorithm], args);
  }

  bmk_gemm_kind kind() const { return kind_; }
  const bmk_device& device() const { return runner_.device(); }
  const std::vector<Shape>& shapes() const { return shapes_; }

 private:
  const Shape* find(const bmk_gemm_shape& shape) const;
  ClassTable make_table(const bmk_gemm_shape& shape);

  GemmRunner runner_;
  bmk_gemm_kind kind_;
  std::vector<Shape> shapes_;
};

// The handle as a JSON object: keys sorted, no line breaks.
std::string describe(const GemmHandle& handle);

}  // namespace branchmark::cpu

struct bmk_gemm {
  branchmark::cpu::GemmHandle handle;
};
