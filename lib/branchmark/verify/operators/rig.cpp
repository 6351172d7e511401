#include "branchmark/verify/operators/rig.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/parallel.hpp"

namespace branchmark::operators {
namespace {

constexpr std::int64_t kStaleRows = BMK_CHUNK_TOKENS;
constexpr std::int64_t kExtraStride = 8;
constexpr float kLarge = 0x1p100f;  // a product of two is infinite

void store(unsigned char* to, float value, bmk_dtype dtype) {
  if (dtype == BMK_BF16) {
    const auto bits = float_to_bf16(value);
    std::memcpy(to, &bits, sizeof bits);
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

float load(const unsigned char* from, bmk_dtype dtype) {
  if (dtype == BMK_BF16) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    return bf16_to_float(bits);
  }
  float value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Calls work(row) for each row; on several threads where that is worth them.
template <class Work>
void for_rows(const bmk_matrix& view, const Work& work) {
  constexpr std::int64_t kElementsWorthThreads = 1 << 20;
  if (view.rows * view.columns >= kElementsWorthThreads) {
    parallel_for(view.rows, work);
  } else {
    for (std::int64_t row = 0; row < view.rows; ++row) work(row);
  }
}

bmk_matrix shape(std::int64_t rows, std::int64_t columns, bmk_dtype dtype, Stride stride) {
  auto view = matrix(nullptr, rows, columns, dtype);
  view.row_stride = stride == Stride::tight ? columns : view.row_stride + kExtraStride;
  return view;
}

std::int64_t buffer_bytes(const bmk_matrix& view) {
  return (view.rows + kStaleRows) * view.row_stride * size_of(view.dtype);
}

}  // namespace

DeviceBuffer poisoned_buffer(const std::shared_ptr<Context>& context, std::int64_t bytes) {
  DeviceBuffer buffer(context, bytes);
  if (bytes > 0) context->fill(buffer.data(), 0xFF, bytes);
  return buffer;
}

DeviceMatrix::DeviceMatrix(std::shared_ptr<Context> context, const HostMatrix& host, Stride stride,
                           Stale stale)
    : context_(std::move(context)), view_(shape(host.rows, host.columns, host.dtype, stride)) {
  const auto element = size_of(host.dtype);
  surroundings_.assign(static_cast<std::size_t>(buffer_bytes(view_)), stale == Stale::zeros ? 0x00 : 0xFF);
  if (stale == Stale::large)
    for (std::size_t i = 0; i < surroundings_.size(); i += static_cast<std::size_t>(element))
      store(surroundings_.data() + i, kLarge, host.dtype);
  for_rows(view_, [&](std::int64_t row) {
    for (std::int64_t column = 0; column < host.columns; ++column)
      store(surroundings_.data() + (row * view_.row_stride + column) * element, host.at(row, column),
            host.dtype);
  });
  buffer_ = DeviceBuffer(context_, buffer_bytes(view_));
  view_.data = buffer_.data();
  context_->copy_to_device(buffer_.data(), surroundings_.data(), buffer_.bytes());
  context_->synchronize();
}

DeviceMatrix::DeviceMatrix(std::shared_ptr<Context> context, std::int64_t rows, std::int64_t columns,
                           bmk_dtype dtype, Stride stride)
    : context_(std::move(context)), view_(shape(rows, columns, dtype, stride)) {
  buffer_ = poisoned_buffer(context_, buffer_bytes(view_));
  view_.data = buffer_.data();
  surroundings_.assign(static_cast<std::size_t>(buffer_.bytes()), 0xFF);
}

HostMatrix DeviceMatrix::download(Verdict& verdict, const std::string& name) const {
  std::vector<unsigned char> bytes(surroundings_.size());
  context_->copy_to_host(bytes.data(), buffer_.data(), buffer_.bytes());
  context_->synchronize();
  const auto element = size_of(view_.dtype);
  HostMatrix host(view_.rows, view_.columns, view_.dtype);
  // The first element outside of the matrix that changed, in rows of row_stride.
  std::atomic<std::int64_t> changed = (view_.rows + kStaleRows) * view_.row_stride;
  const auto compare = [&](std::int64_t from, std::int64_t to) {
    for (auto index = from; index < to; ++index) {
      if (std::memcmp(bytes.data() + index * element, surroundings_.data() + index * element,
                      static_cast<std::size_t>(element)) == 0)
        continue;
      auto least = changed.load();
      while (index < least && !changed.compare_exchange_weak(least, index)) continue;
      return;
    }
  };
  for_rows(view_, [&](std::int64_t row) {
    const auto begin = row * view_.row_stride;
    for (std::int64_t column = 0; column < view_.columns; ++column)
      host.at(row, column) = load(bytes.data() + (begin + column) * element, host.dtype);
    compare(begin + view_.columns, begin + view_.row_stride);
  });
  const auto end = (view_.rows + kStaleRows) * view_.row_stride;
  compare(view_.rows * view_.row_stride, end);
  if (const std::int64_t index = changed; index < end)
    verdict.fail("wrote_outside",
                 fmt::format("{} of [{}, {}] changed memory outside of it, at row {}, column {}", name,
                             view_.rows, view_.columns, index / view_.row_stride, index % view_.row_stride));
  return host;
}

Sequences::Sequences(const std::shared_ptr<Context>& context, std::span<const SequenceSpan> spans)
    : row_offsets_{0} {
  std::vector<std::int64_t> chunk_offsets{0};
  std::vector<std::int32_t> sequence_of_row;
  for (const auto& span : spans) {
    const auto sequence = static_cast<std::int32_t>(first_position_.size());
    row_offsets_.push_back(row_offsets_.back() + span.rows);
    chunk_offsets.push_back(chunk_offsets.back() + (span.rows + BMK_CHUNK_TOKENS - 1) / BMK_CHUNK_TOKENS);
    first_position_.push_back(span.first_position);
    sequence_of_row.insert(sequence_of_row.end(), static_cast<std::size_t>(span.rows), sequence);
    view_.max_rows = std::max(view_.max_rows, span.rows);
  }
  const auto upload = [&]<class T>(const std::vector<T>& values) -> const T* {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    auto& buffer = buffers_.emplace_back(context, bytes);
    if (bytes > 0) context->copy_to_device(buffer.data(), values.data(), bytes);
    return buffer.template as<T>();
  };
  view_.num_sequences = static_cast<std::int64_t>(spans.size());
  view_.num_rows = row_offsets_.back();
  view_.num_chunks = chunk_offsets.back();
  view_.row_offsets = upload(row_offsets_);
  view_.first_position = upload(first_position_);
  view_.chunk_offsets = upload(chunk_offsets);
  view_.sequence_of_row = upload(sequence_of_row);
  view_.host_row_offsets = row_offsets_.data();
  view_.host_first_position = first_position_.data();
  context->synchronize();
}

const char* numerics_name(bmk_numerics numerics) {
  switch (numerics) {
    case BMK_NUMERICS_GDN_FP32:
      return "gdn_fp32";
    case BMK_NUMERICS_REFERENCE:
      return "reference";
    default:
      return "default";
  }
}

bmk_dtype activation_of(bmk_numerics numerics) {
  return numerics == BMK_NUMERICS_REFERENCE ? BMK_F32 : BMK_BF16;
}

}  // namespace branchmark::operators
