// y ← round(y + scale · B(A x)), float32 inside. Each row keeps its A x, of `rank` values, in its own slice
// of the workspace; both products are sums in the fixed order of sum16.
#include <cstdint>

#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

int64_t lora_delta_workspace(const bmk_lora_delta_args& args) {
  return args.x.rows * args.a.rows * static_cast<int64_t>(sizeof(float));
}

void lora_delta(Workers& workers, const bmk_lora_delta_args& args) {
  const bmk_matrix& x = args.x;
  const bmk_matrix& y = args.y;
  const int64_t rank = args.a.rows;
  const float* a = static_cast<const float*>(args.a.data);
  const float* b = static_cast<const float*>(args.b.data);
  parallel_for(workers, x.rows, [&](int64_t row) {
    float* projected = static_cast<float*>(args.workspace) + row * rank;
    for (int64_t r = 0; r < rank; ++r) {
      projected[r] = sum16(x.columns, [&](int64_t k) {
        return a[r * args.a.row_stride + k] * load(x.data, row * x.row_stride + k, x.dtype);
      });
    }
    for (int64_t n = 0; n < y.columns; ++n) {
      const float delta = sum16(rank, [&](int64_t r) { return b[n * args.b.row_stride + r] * projected[r]; });
      const int64_t index = row * y.row_stride + n;
      store(y.data, index, y.dtype, load(y.data, index, y.dtype) + args.scale * delta);
    }
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
