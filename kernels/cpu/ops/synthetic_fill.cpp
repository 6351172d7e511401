// Element i = row · columns + column depends on (key, i) only: the finaliser of splitmix64 (Steele, Lea,
// Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014) over a counter, its four 16-bit
// fields summed to a value that is near to normal and exact in float32 on every device:
//   s = z[0..15] + z[16..31] + z[32..47] + z[48..63] - 131070;  out = mean + s · 2^exponent
#include <cstdint>

#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {
namespace {

inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

inline int32_t sum_of_fields(uint64_t z) {
  const uint64_t sum = (z & 0xFFFFu) + ((z >> 16) & 0xFFFFu) + ((z >> 32) & 0xFFFFu) + (z >> 48);
  return static_cast<int32_t>(sum) - 131070;
}

}  // namespace

void synthetic_fill(Workers& workers, const bmk_synthetic_fill_args& args) {
  const bmk_matrix& out = args.out;
  const float scale = power_of_two(args.exponent);
  parallel_for(workers, out.rows, [&](int64_t row) {
    for (int64_t column = 0; column < out.columns; ++column) {
      const uint64_t counter = static_cast<uint64_t>(row * out.columns + column) + 1u;
      const int32_t sum = sum_of_fields(mix(args.key + counter * 0x9E3779B97F4A7C15u));
      store(out.data, row * out.row_stride + column, out.dtype, args.mean + static_cast<float>(sum) * scale);
    }
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
