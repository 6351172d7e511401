// Weights lie k after k, but a vector holds kLanes columns at one k: they are transposed in registers, in
// squares of kLanes columns by kLanes words. A word is one float32, or two neighbouring bf16, of which the
// transposition moves both at once.
#include "gemm/pack.hpp"

#include <cstring>

#include "gemm/lanes.hpp"
#include "ops/math.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {
namespace {

template <int... kIndices>
struct Sequence {};
template <int kCount, int... kIndices>
struct MakeSequence : MakeSequence<kCount - 1, kCount - 1, kIndices...> {};
template <int... kIndices>
struct MakeSequence<0, kIndices...> {
  using Type = Sequence<kIndices...>;
};
using LaneSequence = MakeSequence<kLanes>::Type;

// a[kFirst], b[kFirst], a[kFirst + 1], b[kFirst + 1], ...
template <int kFirst, int... kIndices>
inline Words interleave(Words a, Words b, Sequence<kIndices...>) {
  return __builtin_shufflevector(a, b, (kFirst + kIndices / 2 + kIndices % 2 * kLanes)...);
}

// Interleaving row i with row i + kLanes / 2, log2(kLanes) times over, rotates the index bits (row, lane) by
// as many places: rows become lanes.
inline void transpose(Words (&rows)[kLanes]) {
  for (int stage = 1; stage < kLanes; stage *= 2) {
    Words next[kLanes];
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = interleave<0>(rows[i], rows[i + kLanes / 2], LaneSequence{});
      next[2 * i + 1] = interleave<kLanes / 2>(rows[i], rows[i + kLanes / 2], LaneSequence{});
    }
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

// One square: `columns` rows of w from `from`, `depth` values of k each, either of which may end early;
// `left` values of k, `depth` among them, until the rows end. The next block's part of the rows is
// prefetched: rows are far apart, and a stretch of one block is too short for the processor to see the stream
// by itself.
template <typename Element>
inline void pack_square(float* to, const Element* from, int64_t stride, int64_t columns, int64_t depth,
                        int64_t left) {
  constexpr int64_t kElements = kLanes * 4 / static_cast<int64_t>(sizeof(Element));
  Words words[kLanes];
  if (columns >= kLanes && depth >= kElements) {
    if (left > kBlockDepth) {
      for (int i = 0; i < kLanes; ++i) __builtin_prefetch(from + i * stride + kBlockDepth);
    }
    for (int i = 0; i < kLanes; ++i) memcpy(&words[i], from + i * stride, sizeof words[i]);
  } else {
    for (int i = 0; i < kLanes; ++i) {
      words[i] = Words{};
      const int64_t present = depth < kElements ? depth : kElements;
      if (i < columns) memcpy(&words[i], from + i * stride, static_cast<size_t>(present) * sizeof(Element));
    }
  }
  transpose(words);
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (sizeof(Element) == 2) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
      const Words first = words[i] << 16;
      const Words second = words[i] & 0xFFFF0000u;
#else
      const Words first = words[i] & 0xFFFF0000u;
      const Words second = words[i] << 16;
#endif
      memcpy(to + (2 * i) * kTileColumns, &first, sizeof first);
      memcpy(to + (2 * i + 1) * kTileColumns, &second, sizeof second);
    } else {
      memcpy(to + i * kTileColumns, &words[i], sizeof words[i]);
    }
  }
}

template <typename Element>
void pack_tile(float* to, const Element* from, int64_t stride, int64_t columns, int64_t depth, int64_t left) {
  constexpr int64_t kElements = kLanes * 4 / static_cast<int64_t>(sizeof(Element));
  static_assert(kBlockDepth % kElements == 0, "the last square must end inside its tile");
  for (int64_t column = 0; column < kTileColumns; column += kLanes) {
    for (int64_t k = 0; k < depth; k += kElements) {
      pack_square(to + k * kTileColumns + column, from + column * stride + k, stride, columns - column,
                  depth - k, left - k);
    }
  }
}

}  // namespace

void pack_x(float* to, const bmk_matrix& x, int64_t first_row, int64_t rows, int64_t first_k, int64_t depth) {
  for (int64_t row = 0; row < rows; ++row) {
    load_row(to + row * kBlockDepth, x.data, (first_row + row) * x.row_stride + first_k, depth, x.dtype);
  }
}

void pack_w(float* to, const bmk_matrix& w, int64_t first_column, int64_t columns, int64_t first_k,
            int64_t depth) {
  const int64_t offset = first_column * w.row_stride + first_k;
  if (w.dtype == BMK_BF16) {
    pack_tile(to, static_cast<const uint16_t*>(w.data) + offset, w.row_stride, columns, depth,
              w.columns - first_k);
  } else {
    pack_tile(to, static_cast<const float*>(w.data) + offset, w.row_stride, columns, depth,
              w.columns - first_k);
  }
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
