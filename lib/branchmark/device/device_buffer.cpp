#include "branchmark/device/device_buffer.hpp"

#include <algorithm>

namespace branchmark {

DeviceBuffer::DeviceBuffer(std::shared_ptr<Context> context, std::int64_t bytes)
    : context_(std::move(context)), bytes_(bytes) {
  if (bytes == 0) return;
  context_->call("memory.allocate", context_->table().memory->allocate, context_->device(), bytes, &data_);
  auto& counters = context_->counters();
  ++counters.allocations;
  ++counters.live_buffers;
  counters.live_bytes += bytes;
  counters.peak_bytes = std::max(counters.peak_bytes, counters.live_bytes);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  if (this == &other) return *this;
  reset();
  context_ = std::move(other.context_);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void DeviceBuffer::reset() noexcept {
  if (data_ != nullptr) {
    auto& counters = context_->counters();
    ++counters.calls;
    --counters.live_buffers;
    counters.live_bytes -= bytes_;
    context_->table().memory->release(context_->device(), data_);
  }
  data_ = nullptr;
  bytes_ = 0;
  context_.reset();
}

std::int64_t size_of(bmk_dtype dtype) {
  return dtype == BMK_BF16 ? 2 : 4;
}

const char* name_of(bmk_dtype dtype) {
  return dtype == BMK_BF16 ? "bf16" : "f32";
}

bmk_matrix matrix(void* data, std::int64_t rows, std::int64_t columns, bmk_dtype dtype) {
  return {.data = data,
          .rows = rows,
          .columns = columns,
          .row_stride = padded_columns(columns),
          .dtype = dtype,
          .reserved = 0};
}

namespace {

// A matrix whose memory is not there yet has views of which the same holds.
void* part_of(const bmk_matrix& whole, std::int64_t first_element) {
  if (whole.data == nullptr) return nullptr;
  return static_cast<char*>(whole.data) + first_element * size_of(whole.dtype);
}

}  // namespace

bmk_matrix columns_of(const bmk_matrix& whole, std::int64_t first, std::int64_t count) {
  auto view = whole;
  view.data = part_of(whole, first);
  view.columns = count;
  return view;
}

bmk_matrix rows_of(const bmk_matrix& whole, std::int64_t first, std::int64_t count) {
  auto view = whole;
  view.data = part_of(whole, first * whole.row_stride);
  view.rows = count;
  return view;
}

std::int64_t matrix_bytes(std::int64_t rows, std::int64_t columns, bmk_dtype dtype) {
  return rows * padded_columns(columns) * size_of(dtype);
}

}  // namespace branchmark
