#include "branchmark/verify/oracle/attention.hpp"

#include <algorithm>
#include <cmath>

#include "branchmark/base/parallel.hpp"
#include "branchmark/verify/oracle/norms.hpp"

namespace branchmark::oracle {
namespace {

constexpr std::int64_t kDim = BMK_ATTENTION_HEAD_DIM;

// a · b rounded, then the float32 sum with c rounded: the two roundings of one rotary output.
Range turned(const Range& a, double factor, const Range& b, double other_factor, bmk_dtype dtype) {
  const auto left = rounded(in_float32(a * exactly(factor), 0x1p-23), dtype);
  const auto right = rounded(in_float32(b * exactly(other_factor), 0x1p-23), dtype);
  const double size = std::abs(left.nominal) + std::abs(right.nominal);
  return rounded(widened(left + right, size * 0x1p-23), dtype);
}

}  // namespace

std::int64_t RotaryTables::table_row(std::int64_t row, std::int64_t i) const {
  std::size_t kind = 0;
  if (i % 3 == 1 && i < 3 * section_height) kind = 1;
  if (i % 3 == 2 && i < 3 * section_width) kind = 2;
  return positions[kind][static_cast<std::size_t>(row)];
}

Expected attention_heads(const HostMatrix& x, std::int64_t heads, std::int64_t first_column,
                         std::int64_t head_stride, const HostMatrix& weight, double eps,
                         const RotaryTables& rotary) {
  Expected out(x.rows, heads * kDim);
  parallel_for(x.rows, [&](std::int64_t row) {
    for (std::int64_t head = 0; head < heads; ++head) {
      const std::int64_t from = first_column + head * head_stride;
      const std::int64_t to = head * kDim;
      const double scale = inverse_rms(x, row, from, kDim, eps);
      for (std::int64_t i = 0; i < kDim; ++i) {
        const double value = x.at(row, from + i) * scale * (1.0 + weight.at(0, i));
        out.at(row, to + i) = rounded(in_float32(exactly(value), kRootOfSum), x.dtype);
      }
      for (std::int64_t i = 0; i < BMK_ROTARY_FREQUENCIES; ++i) {
        const auto position = rotary.table_row(row, i);
        const double cosine = rotary.cosines->at(position, i);
        const double sine = rotary.sines->at(position, i);
        const auto first = out.at(row, to + i);
        const auto second = out.at(row, to + i + BMK_ROTARY_FREQUENCIES);
        out.at(row, to + i) = turned(first, cosine, second, -sine, x.dtype);
        out.at(row, to + i + BMK_ROTARY_FREQUENCIES) = turned(second, cosine, first, sine, x.dtype);
      }
    }
  });
  return out;
}

std::vector<double> gated_attention(const HostMatrix& query, const HostMatrix& gate, const HostMatrix& keys,
                                    const HostMatrix& values, std::int64_t first_position) {
  const std::int64_t query_heads = query.columns / kDim;
  const std::int64_t kv_heads = keys.columns / kDim;
  std::vector<double> out(query.values.size());
  parallel_for(query.rows, [&](std::int64_t row) {
    const std::int64_t num_keys = first_position + row + 1;
    std::vector<double> weights(static_cast<std::size_t>(num_keys));
    for (std::int64_t head = 0; head < query_heads; ++head) {
      const std::int64_t column = head * kDim;
      const std::int64_t kv_column = head * kv_heads / query_heads * kDim;
      for (std::int64_t key = 0; key < num_keys; ++key) {
        double score = 0;
        for (std::int64_t i = 0; i < kDim; ++i)
          score += double{query.at(row, column + i)} * double{keys.at(key, kv_column + i)};
        weights[static_cast<std::size_t>(key)] = score / 16.0;
      }
      const double largest = *std::max_element(weights.begin(), weights.end());
      double total = 0;
      for (auto& weight : weights) total += weight = std::exp(weight - largest);
      double* result = out.data() + row * query.columns + column;
      for (std::int64_t key = 0; key < num_keys; ++key)
        for (std::int64_t i = 0; i < kDim; ++i)
          result[i] += weights[static_cast<std::size_t>(key)] / total * values.at(key, kv_column + i);
      for (std::int64_t i = 0; i < kDim; ++i) result[i] *= sigmoid(double{gate.at(row, column + i)});
    }
  });
  return out;
}

}  // namespace branchmark::oracle
