#include "branchmark/verify/oracle/norms.hpp"

#include <cmath>

#include "branchmark/base/parallel.hpp"

namespace branchmark::oracle {

double inverse_rms(const HostMatrix& x, std::int64_t row, std::int64_t first, std::int64_t count,
                   double eps) {
  double sum = 0;
  for (std::int64_t i = first; i < first + count; ++i) sum += double{x.at(row, i)} * double{x.at(row, i)};
  return 1.0 / std::sqrt(sum / static_cast<double>(count) + eps);
}

Expected rms_norm(const HostMatrix& x, const HostMatrix& weight, double eps) {
  Expected out(x.rows, x.columns);
  parallel_for(x.rows, [&](std::int64_t row) {
    const double scale = inverse_rms(x, row, 0, x.columns, eps);
    for (std::int64_t i = 0; i < x.columns; ++i) {
      const double value = x.at(row, i) * scale * (1.0 + weight.at(0, i));
      out.at(row, i) = rounded(in_float32(exactly(value), kRootOfSum), x.dtype);
    }
  });
  return out;
}

Expected gated_rms_norm(const HostMatrix& o, const HostMatrix& z, const HostMatrix& weight, double eps) {
  Expected out(o.rows, o.columns);
  parallel_for(o.rows, [&](std::int64_t row) {
    for (std::int64_t head = 0; head < o.columns / BMK_GDN_HEAD_DIM; ++head) {
      const std::int64_t first = head * BMK_GDN_HEAD_DIM;
      const double scale = inverse_rms(o, row, first, BMK_GDN_HEAD_DIM, eps);
      for (std::int64_t i = 0; i < BMK_GDN_HEAD_DIM; ++i) {
        const auto normed = rounded(in_float32(exactly(o.at(row, first + i) * scale), kRootOfSum), o.dtype);
        const auto weighted = rounded(in_float32(exactly(weight.at(0, i)) * normed, kFewSteps), o.dtype);
        const auto gated = weighted * silu(exactly(z.at(row, first + i)));
        out.at(row, first + i) = rounded(in_float32(gated, kFewSteps), o.dtype);
      }
    }
  });
  return out;
}

}  // namespace branchmark::oracle
