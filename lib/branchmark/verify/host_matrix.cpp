#include "branchmark/verify/host_matrix.hpp"

#include "branchmark/base/bf16.hpp"

namespace branchmark {

float stored(float value, bmk_dtype dtype) {
  return dtype == BMK_BF16 ? bf16_to_float(float_to_bf16(value)) : value;
}

HostMatrix random_matrix(Random& random, std::int64_t rows, std::int64_t columns, bmk_dtype dtype,
                         float scale, float mean) {
  HostMatrix matrix(rows, columns, dtype);
  for (auto& value : matrix.values) value = stored(mean + scale * random.normal(), dtype);
  return matrix;
}

HostMatrix rows_of(const HostMatrix& whole, std::int64_t first, std::int64_t count) {
  HostMatrix part;
  part.rows = count;
  part.columns = whole.columns;
  part.dtype = whole.dtype;
  const auto begin = whole.values.begin() + first * whole.columns;
  part.values.assign(begin, begin + count * whole.columns);
  return part;
}

HostMatrix stacked(std::span<const HostMatrix> parts) {
  HostMatrix whole;
  for (const auto& part : parts) {
    whole.rows += part.rows;
    whole.columns = part.columns;
    whole.dtype = part.dtype;
    whole.values.insert(whole.values.end(), part.values.begin(), part.values.end());
  }
  return whole;
}

}  // namespace branchmark
