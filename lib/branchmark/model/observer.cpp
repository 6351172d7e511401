#include "branchmark/model/observer.hpp"

#include "branchmark/base/bf16.hpp"
#include "branchmark/device/device_buffer.hpp"

namespace branchmark {

std::vector<float> download(Context& context, const bmk_matrix& matrix) {
  if (matrix.rows == 0) return {};
  const auto count = (matrix.rows - 1) * matrix.row_stride + matrix.columns;
  std::vector<float> values(static_cast<std::size_t>(matrix.rows * matrix.columns));
  const auto unpack = [&](const auto* raw, const auto& convert) {
    for (std::int64_t row = 0; row < matrix.rows; ++row)
      for (std::int64_t column = 0; column < matrix.columns; ++column)
        values[static_cast<std::size_t>(row * matrix.columns + column)] =
            convert(raw[row * matrix.row_stride + column]);
  };
  if (matrix.dtype == BMK_BF16) {
    std::vector<std::uint16_t> raw(static_cast<std::size_t>(count));
    context.copy_to_host(raw.data(), matrix.data, count * size_of(BMK_BF16));
    context.synchronize();
    unpack(raw.data(), bf16_to_float);
  } else {
    std::vector<float> raw(static_cast<std::size_t>(count));
    context.copy_to_host(raw.data(), matrix.data, count * size_of(BMK_F32));
    context.synchronize();
    unpack(raw.data(), [](float value) { return value; });
  }
  return values;
}

}  // namespace branchmark
