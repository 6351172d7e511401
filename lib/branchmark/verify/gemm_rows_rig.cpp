#include "branchmark/verify/gemm_rows_rig.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/parallel.hpp"
#include "branchmark/base/random.hpp"

namespace branchmark {
namespace {

// Uploads the matrix whose element [row, column] is value(row, column).
template <class Value>
void upload(Context& context, const bmk_matrix& to, const Value& value) {
  std::vector<std::uint16_t> host(static_cast<std::size_t>(to.rows * to.row_stride));
  parallel_for(to.rows, [&](std::int64_t row) {
    for (std::int64_t column = 0; column < to.columns; ++column)
      host[static_cast<std::size_t>(row * to.row_stride + column)] = float_to_bf16(value(row, column));
  });
  context.copy_to_device(to.data, host.data(), static_cast<std::int64_t>(host.size() * sizeof host[0]));
  context.synchronize();
}

// Bell-shaped, standard deviation 1.
float normal_at(std::uint64_t key, std::int64_t index) {
  return Random(random_bits(key, static_cast<std::uint64_t>(index))).normal();
}

}  // namespace

GemmRowsRig::GemmRowsRig(std::shared_ptr<Context> context, const ProjectionShape& shape,
                         std::int64_t reference_rows, std::uint64_t seed)
    : context_(std::move(context)),
      x_buffer_(context_, matrix_bytes(reference_rows, shape.k, BMK_BF16)),
      w_buffer_(context_, matrix_bytes(shape.n, shape.k, BMK_BF16)),
      y_buffer_(context_, matrix_bytes(reference_rows, shape.n, BMK_BF16)),
      x_(matrix(x_buffer_.data(), reference_rows, shape.k, BMK_BF16)),
      w_(matrix(w_buffer_.data(), shape.n, shape.k, BMK_BF16)),
      y_(matrix(y_buffer_.data(), reference_rows, shape.n, BMK_BF16)),
      reference_(static_cast<std::size_t>(y_buffer_.bytes())),
      found_(reference_.size()) {
  const std::int64_t half = shape.k / 2;
  const auto x_key = random_key(seed, "gemm_rows.x");
  upload(*context_, x_, [&](std::int64_t row, std::int64_t column) {
    const bool repeats = row % 4 != 2;  // the rows at either end and those of an odd index among them
    if (repeats && column == 2 * half) return 0.0f;  // the last of an odd K has no partner
    return normal_at(x_key, row * shape.k + (repeats ? column % half : column));
  });
  const auto w_key = random_key(seed, "gemm_rows.w");
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.k));
  upload(*context_, w_, [&](std::int64_t row, std::int64_t column) {
    const float sign = column < half ? scale : -scale;
    return sign * normal_at(w_key, row * half + column % half);
  });
}

std::set<std::int64_t> GemmRowsRig::offsets(std::int64_t rows) const {
  const auto last = reference_rows() - rows;
  return {0, std::min(last, last / 2 | 1), last};
}

void GemmRowsRig::make_reference(const Call& call) {
  context_->fill(y_buffer_.data(), 0xFF, y_buffer_.bytes());
  call(x_, w_, y_);
  context_->copy_to_host(reference_.data(), y_buffer_.data(), y_buffer_.bytes());
  context_->synchronize();
}

RowDifferences GemmRowsRig::compare(const Call& call, std::int64_t first, std::int64_t rows) {
  // The call's rows with one more on either side, which must stay as they are.
  const auto begin = std::max<std::int64_t>(first - 1, 0);
  const auto end = std::min(first + rows + 1, reference_rows());
  const auto around = rows_of(y_, begin, end - begin);
  const auto bytes = static_cast<std::int64_t>(row_bytes()) * around.rows;
  context_->fill(around.data, 0xFF, bytes);
  call(rows_of(x_, first, rows), w_, rows_of(y_, first, rows));
  context_->copy_to_host(found_.data(), around.data, bytes);
  context_->synchronize();

  const auto* own = found_.data() + static_cast<std::size_t>(first - begin) * row_bytes();
  auto result = differences(own, first, rows);
  const auto touched = [](const unsigned char* from, const unsigned char* to) {
    return std::any_of(from, to, [](unsigned char byte) { return byte != 0xFF; });
  };
  result.wrote_outside = touched(found_.data(), own) ||
                         touched(own + static_cast<std::size_t>(rows) * row_bytes(), found_.data() + bytes);
  return result;
}

RowDifferences GemmRowsRig::compare_flipped(std::int64_t row) {
  found_ = reference_;
  const auto last_element = static_cast<std::size_t>(y_.columns - 1) * 2;
  found_[static_cast<std::size_t>(row) * row_bytes() + last_element] ^= 1u;
  return differences(found_.data(), 0, reference_rows());
}

RowDifferences GemmRowsRig::differences(const unsigned char* found, std::int64_t first, std::int64_t rows) {
  const auto* expected = reference_.data() + static_cast<std::size_t>(first) * row_bytes();
  const auto used = static_cast<std::size_t>(y_.columns) * 2;  // the row padding belongs to no one
  std::vector<char> differs(static_cast<std::size_t>(rows));
  constexpr std::int64_t kRowsPerPart = 64;
  parallel_for((rows + kRowsPerPart - 1) / kRowsPerPart, [&](std::int64_t part) {
    for (auto row = part * kRowsPerPart; row < std::min(rows, (part + 1) * kRowsPerPart); ++row) {
      const auto at = static_cast<std::size_t>(row) * row_bytes();
      differs[static_cast<std::size_t>(row)] = std::memcmp(found + at, expected + at, used) != 0;
    }
  });
  RowDifferences result;
  first_difference_.clear();
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!differs[static_cast<std::size_t>(row)]) continue;
    const auto at = static_cast<std::size_t>(row) * row_bytes();
    if (result.rows.empty()) describe_difference(found + at, expected + at, first + row);
    result.rows.push_back(first + row);
  }
  return result;
}

void GemmRowsRig::describe_difference(const unsigned char* found, const unsigned char* expected,
                                      std::int64_t row) {
  for (std::int64_t column = 0; column < y_.columns; ++column) {
    std::uint16_t found_bits = 0;
    std::uint16_t expected_bits = 0;
    std::memcpy(&found_bits, found + column * 2, sizeof found_bits);
    std::memcpy(&expected_bits, expected + column * 2, sizeof expected_bits);
    if (found_bits == expected_bits) continue;
    first_difference_ =
        fmt::format("row {}, column {}: found 0x{:04x} ({:.9g}), expected 0x{:04x} ({:.9g})", row, column,
                    found_bits, bf16_to_float(found_bits), expected_bits, bf16_to_float(expected_bits));
    return;
  }
}

}  // namespace branchmark
