#include "branchmark/verify/oracle/products.hpp"

#include <cmath>

#include "branchmark/base/parallel.hpp"

namespace branchmark::oracle {
namespace {

constexpr double kAccumulation = 0x1p-20;

struct Dot {
  double sum = 0;
  double size = 0;  // sum of the terms' absolute values
};

Dot dot(std::span<const float> a, std::span<const float> b) {
  Dot result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double term = double{a[i]} * double{b[i]};
    result.sum += term;
    result.size += std::abs(term);
  }
  return result;
}

}  // namespace

Expected gemm(const HostMatrix& x, const HostMatrix& w, bmk_dtype y_dtype) {
  Expected y(x.rows, w.rows);
  parallel_for(x.rows, [&](std::int64_t row) {
    for (std::int64_t column = 0; column < w.rows; ++column) {
      const auto product = dot(x.row(row), w.row(column));
      y.at(row, column) = rounded(widened(exactly(product.sum), product.size * kAccumulation), y_dtype);
    }
  });
  return y;
}

Expected lora_delta(const HostMatrix& x, const HostMatrix& a, const HostMatrix& b, double scale,
                    const HostMatrix& y) {
  Expected out(y.rows, y.columns);
  parallel_for(x.rows, [&](std::int64_t row) {
    std::vector<Dot> inner;
    for (std::int64_t r = 0; r < a.rows; ++r) inner.push_back(dot(x.row(row), a.row(r)));
    for (std::int64_t column = 0; column < b.rows; ++column) {
      Dot delta;
      for (std::int64_t r = 0; r < a.rows; ++r) {
        const auto& part = inner[static_cast<std::size_t>(r)];
        delta.sum += scale * b.at(column, r) * part.sum;
        delta.size += std::abs(scale * b.at(column, r)) * part.size;
      }
      const double base = y.at(row, column);
      out.at(row, column) =
          rounded(widened(exactly(base + delta.sum), (std::abs(base) + delta.size) * kAccumulation), y.dtype);
    }
  });
  return out;
}

}  // namespace branchmark::oracle
