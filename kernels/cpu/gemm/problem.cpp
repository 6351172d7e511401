#include "gemm/problem.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace branchmark::cpu {
namespace {

bmk_matrix make_matrix(std::vector<unsigned char>& bytes, int64_t rows, int64_t columns, bmk_dtype dtype) {
  const int64_t stride = (columns + 7) / 8 * 8;
  bytes.resize(static_cast<std::size_t>(rows * stride * (dtype == BMK_BF16 ? 2 : 4)));
  return {bytes.data(), rows, columns, stride, dtype, 0};
}

// Filled as bf16 and widened where the matrix is f32, so that one seed means one set of values.
void fill(const GemmRunner& runner, const bmk_matrix& out, uint64_t key) {
  const Compute& compute = runner.device().compute();
  Workers& workers = runner.device().workers;
  constexpr int32_t kDeviationOne = -15;  // the generator's own deviation is about 2^15
  std::vector<unsigned char> bytes;
  bmk_synthetic_fill_args args{};
  args.key = key;
  args.exponent = kDeviationOne;
  args.out = out.dtype == BMK_BF16 ? out : make_matrix(bytes, out.rows, out.columns, BMK_BF16);
  compute.synthetic_fill(workers, args);
  if (out.dtype == BMK_BF16) return;
  bmk_copy_2d_args copy{};
  copy.in = args.out;
  copy.out = out;
  compute.copy_2d(workers, copy);
}

// The second half of each row repeats the first, with the other sign where asked for. A column left over by
// an odd number stays as it is.
void mirror(const bmk_matrix& out, bool negated) {
  const int64_t element_bytes = out.dtype == BMK_BF16 ? 2 : 4;
  const int64_t half = out.columns / 2;
  constexpr unsigned char kSign = 0x80;
  for (int64_t row = 0; row < out.rows; ++row) {
    auto* first = static_cast<unsigned char*>(out.data) + row * out.row_stride * element_bytes;
    auto* second = first + half * element_bytes;
    memcpy(second, first, static_cast<std::size_t>(half * element_bytes));
    if (!negated) continue;
    for (int64_t i = 1; i <= half; ++i) second[i * element_bytes - 1] ^= kSign;
  }
}

}  // namespace

GemmProblem::GemmProblem(const GemmRunner& runner, const bmk_gemm_shape& shape, int64_t rows, int64_t columns,
                         int64_t k, uint64_t seed)
    : runner_(runner), args_{} {
  args_.struct_size = sizeof args_;
  args_.x = make_matrix(x_, rows, k, shape.x_dtype);
  args_.w = make_matrix(w_, columns, k, shape.w_dtype);
  args_.y = make_matrix(y_, rows, columns, shape.y_dtype);
  fill(runner, args_.x, 2 * seed);
  fill(runner, args_.w, 2 * seed + 1);
  // Every sum is then zero but for the rounding of its partial sums, so that nothing hides the order they
  // were taken in. Of plain random data one output in some 100,000 shows it after rounding to bf16.
  mirror(args_.x, false);
  mirror(args_.w, true);
}

const std::vector<unsigned char>& GemmProblem::run(const GemmAlgorithm& algorithm) {
  constexpr int kNotANumber = 0xFF;  // in every byte a NaN, as bf16 and as f32
  memset(y_.data(), kNotANumber, y_.size());
  runner_.run(algorithm, args_);
  return y_;
}

double GemmProblem::seconds(const GemmAlgorithm& algorithm, int repeats) {
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    runner_.run(algorithm, args_);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    best = std::min(best, elapsed.count());
  }
  return best;
}

}  // namespace branchmark::cpu
