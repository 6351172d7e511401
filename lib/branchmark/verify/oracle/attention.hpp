// Float64 references of attention: its preparation, with rounding points, and the softmax, without.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "branchmark/verify/host_matrix.hpp"
#include "branchmark/verify/oracle/range.hpp"

namespace branchmark::oracle {

struct RotaryTables {
  const HostMatrix* cosines = nullptr;  // [positions, 32]
  const HostMatrix* sines = nullptr;    // [positions, 32]
  // [rows] each: temporal, height, width
  std::array<std::vector<std::int32_t>, 3> positions;
  std::int64_t section_height = 0;
  std::int64_t section_width = 0;

  // The row of the tables that frequency `i` of `row` reads: the height position if i mod 3 = 1 and
  // i < 3 · section_height, the width position if i mod 3 = 2 and i < 3 · section_width, else the temporal
  // one.
  std::int64_t table_row(std::int64_t row, std::int64_t i) const;
};

// Heads of 256 columns of `x` that begin at first_column + head · head_stride: rms norm with (1 + weight),
// rounded; rotary on dims 0..63 as pairs (i, i + 32), each product rounded, then the sum; dims 64..255 pass.
// Result [rows, heads · 256].
Expected attention_heads(const HostMatrix& x, std::int64_t heads, std::int64_t first_column,
                         std::int64_t head_stride, const HostMatrix& weight, double eps,
                         const RotaryTables& rotary);

// Causal softmax attention, scale 1/16, times sigmoid(gate), nothing rounded. query and gate
// [rows, 256 · query_heads] are the rows at positions first_position ...; keys and values
// [first_position + rows, 256 · kv_heads] from position 0. Query head h reads kv head
// ⌊h · kv_heads / query_heads⌋. Result [rows, 256 · query_heads].
std::vector<double> gated_attention(const HostMatrix& query, const HostMatrix& gate, const HostMatrix& keys,
                                    const HostMatrix& values, std::int64_t first_position);

}  // namespace branchmark::oracle
