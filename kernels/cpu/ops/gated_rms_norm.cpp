// Per value head of 128: n = round(o · rsqrt(mean(o²) + eps)); m = round(weight · n); out = round(m ·
// silu(z)).
#include <cstdint>

#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {

void gated_rms_norm(Workers& workers, const bmk_gated_rms_norm_args& args) {
  constexpr int64_t kHead = BMK_GDN_HEAD_DIM;
  const bmk_matrix& o = args.o;
  const bmk_matrix& z = args.z;
  const bmk_matrix& out = args.out;
  parallel_for(workers, o.rows, [&](int64_t row) {
    float weight[kHead];
    load_row(weight, args.weight.data, 0, kHead, args.weight.dtype);
    for (int64_t head = 0; head < args.value_heads; ++head) {
      float value[kHead];
      float gate[kHead];
      load_row(value, o.data, row * o.row_stride + head * kHead, kHead, o.dtype);
      load_row(gate, z.data, row * z.row_stride + head * kHead, kHead, z.dtype);
      const float sum = sum16(kHead, [&](int64_t i) { return value[i] * value[i]; });
      const float scale = rsqrt_f32(sum / static_cast<float>(kHead) + args.eps);
      for (int64_t i = 0; i < kHead; ++i) {
        const float normed = round_to(value[i] * scale, o.dtype);
        value[i] = round_to(weight[i] * normed, o.dtype);
      }
      for (int64_t i = 0; i < kHead; ++i) value[i] *= silu(gate[i]);
      store_row(out.data, row * out.row_stride + head * kHead, kHead, out.dtype, value);
    }
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
