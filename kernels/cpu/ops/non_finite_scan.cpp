// *first_index ← min(*first_index, row · columns + column) over the elements that are NaN or infinite. A
// minimum of integers does not depend on the order in which the threads come.
#include <cstdint>

#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {
namespace {

inline bool is_finite(float value) {
  return (__builtin_bit_cast(uint32_t, value) & 0x7F800000u) != 0x7F800000u;
}

inline void lower_to(int64_t* target, int64_t value) {
  int64_t seen = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (value < seen &&
         !__atomic_compare_exchange_n(target, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

}  // namespace

void non_finite_scan(Workers& workers, const bmk_non_finite_scan_args& args) {
  const bmk_matrix& x = args.x;
  parallel_for(workers, x.rows, [&](int64_t row) {
    for (int64_t column = 0; column < x.columns; ++column) {
      if (!is_finite(load(x.data, row * x.row_stride + column, x.dtype))) {
        return lower_to(args.first_index, row * x.columns + column);
      }
    }
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
