// A matrix on the host, as the checks make, upload, download and compare it.
//
// Values are float32 whatever the storage type: every bf16 is a float32, so equal float bits mean equal
// stored bits. A plain value; rows lie one after another without padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "branchmark/base/random.hpp"
#include "branchmark/kernels.h"

namespace branchmark {

struct HostMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bmk_dtype dtype = BMK_BF16;
  std::vector<float> values;

  HostMatrix() = default;
  // Zeros.
  HostMatrix(std::int64_t num_rows, std::int64_t num_columns, bmk_dtype type)
      : rows(num_rows),
        columns(num_columns),
        dtype(type),
        values(static_cast<std::size_t>(num_rows * num_columns)) {}

  std::int64_t size() const { return rows * columns; }
  float& at(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  float at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  std::span<const float> row(std::int64_t index) const {
    return std::span(values).subspan(static_cast<std::size_t>(index * columns),
                                     static_cast<std::size_t>(columns));
  }
};

// `value` after a round trip through storage of this type.
float stored(float value, bmk_dtype dtype);

// mean + scale · (bell-shaped, standard deviation 1), rounded to the storage type.
HostMatrix random_matrix(Random& random, std::int64_t rows, std::int64_t columns, bmk_dtype dtype,
                         float scale = 1.0f, float mean = 0.0f);

// A copy of rows [first, first + count).
HostMatrix rows_of(const HostMatrix& whole, std::int64_t first, std::int64_t count);

// The rows of each part after those of the one before; all have the same columns and type.
HostMatrix stacked(std::span<const HostMatrix> parts);

}  // namespace branchmark
