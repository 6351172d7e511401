// out = round(round(silu(gate)) · up).
#include <cstdint>

#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {
namespace {

// Elements that are taken through the steps at a time.
constexpr int64_t kBlock = 256;

}  // namespace

void silu_mul(Workers& workers, const bmk_silu_mul_args& args) {
  const bmk_matrix& gate = args.gate;
  const bmk_matrix& up = args.up;
  const bmk_matrix& out = args.out;
  parallel_for(workers, out.rows, [&](int64_t row) {
    for (int64_t first = 0; first < out.columns; first += kBlock) {
      const int64_t left = out.columns - first;
      const int64_t count = left < kBlock ? left : kBlock;
      float activated[kBlock];
      float factor[kBlock];
      load_row(activated, gate.data, row * gate.row_stride + first, count, gate.dtype);
      load_row(factor, up.data, row * up.row_stride + first, count, up.dtype);
      for (int64_t i = 0; i < count; ++i) activated[i] = silu(activated[i]);
      for (int64_t i = 0; i < count; ++i) activated[i] = round_to(activated[i], out.dtype) * factor[i];
      store_row(out.data, row * out.row_stride + first, count, out.dtype, activated);
    }
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
