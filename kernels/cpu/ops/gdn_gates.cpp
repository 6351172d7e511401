// The two gates of the gated delta net.
//
//   beta[r, h] = round(sigmoid(b[r, h]))
//   g[r, h] = −(exp(A_log[h]) · softplus(a[r, h] + dt_bias[h]))
//
// a, b: [rows, value heads], bf16 or f32; A_log, dt_bias: [1, value heads], bf16 or f32 as stored; g, beta:
// [rows, value heads], f32. Arithmetic is float32 and round is to the type of b. Both factors of g are
// positive or zero, so that g is never positive and a decay exp(g) never grows.
//
// Elementwise, so rows are independent. Bound by the exps, three an element.
#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

void gdn_gates(Workers& workers, const bmk_gdn_gates_args& args) {
  // Rows of one task: enough that handing it out costs little.
  constexpr int64_t kBlockRows = 32;
  const int64_t rows = args.g.rows;
  const int64_t heads = args.g.columns;
  float* g = static_cast<float*>(args.g.data);
  float* beta = static_cast<float*>(args.beta.data);
  parallel_for(workers, (rows + kBlockRows - 1) / kBlockRows, [&](int64_t block) {
    const int64_t last = (block + 1) * kBlockRows < rows ? (block + 1) * kBlockRows : rows;
    for (int64_t r = block * kBlockRows; r < last; ++r) {
      for (int64_t h = 0; h < heads; ++h) {
        const float a = load(args.a.data, r * args.a.row_stride + h, args.a.dtype);
        const float b = load(args.b.data, r * args.b.row_stride + h, args.b.dtype);
        const float rate = exp_f32(load(args.a_log.data, h, args.a_log.dtype));
        const float step = softplus(a + load(args.dt_bias.data, h, args.dt_bias.dtype));
        g[r * args.g.row_stride + h] = -(rate * step);
        beta[r * args.beta.row_stride + h] = round_to(sigmoid(b), args.b.dtype);
      }
    }
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
