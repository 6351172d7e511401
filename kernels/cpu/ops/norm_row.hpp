// The root mean square norm of one row, what rms_norm and add_rms_norm share so that a row gets the same bits
// from both:
//   out[i] = (x[i] · (1 / sqrt(sum(x²) / n + eps))) · (1 + weight[i]), float32 inside, one rounding
// The sum has the fixed order of sum16. `out` may be `x`.
#pragma once

#include <cstdint>

#include "branchmark/kernels.h"
#include "ops/math.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

inline void rms_norm_row(const bmk_matrix& x, const bmk_matrix& weight, const bmk_matrix& out, float eps,
                         int64_t row) {
  const int64_t n = x.columns;
  const int64_t first = row * x.row_stride;
  const float sum = sum16(n, [&](int64_t i) {
    const float value = load(x.data, first + i, x.dtype);
    return value * value;
  });
  const float scale = rsqrt_f32(sum / static_cast<float>(n) + eps);
  for (int64_t i = 0; i < n; ++i) {
    const float normed = load(x.data, first + i, x.dtype) * scale;
    store(out.data, row * out.row_stride + i, out.dtype,
          normed * (1.0f + load(weight.data, i, weight.dtype)));
  }
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
