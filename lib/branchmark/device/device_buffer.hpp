// Owner of one allocation of device memory, and views into it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "branchmark/device/context.hpp"

namespace branchmark {

// Move-only. Allocation may synchronise the device (CUDA's does); release is silent.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  // `bytes` may be 0: then nothing is allocated. Throws not_eligible where memory is short.
  DeviceBuffer(std::shared_ptr<Context> context, std::int64_t bytes);
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : context_(std::move(other.context_)),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  void* data() const noexcept { return data_; }
  std::int64_t bytes() const noexcept { return bytes_; }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  void reset() noexcept;

 private:
  std::shared_ptr<Context> context_;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

// Bytes of one element: 2 for bf16, 4 for float32.
std::int64_t size_of(bmk_dtype dtype);
const char* name_of(bmk_dtype dtype);

// The next multiple of 8, the row stride that the ABI asks for.
constexpr std::int64_t padded_columns(std::int64_t columns) {
  return (columns + 7) / 8 * 8;
}

// A [rows, columns] matrix at `data` with the smallest row stride that the ABI allows.
bmk_matrix matrix(void* data, std::int64_t rows, std::int64_t columns, bmk_dtype dtype);
// Columns [first, first + count) of a matrix, as a view; `first` is a multiple of 8.
bmk_matrix columns_of(const bmk_matrix& whole, std::int64_t first, std::int64_t count);
// Rows [first, first + count) of a matrix, as a view.
bmk_matrix rows_of(const bmk_matrix& whole, std::int64_t first, std::int64_t count);
// An owning [rows, padded_columns(columns)] buffer's size.
std::int64_t matrix_bytes(std::int64_t rows, std::int64_t columns, bmk_dtype dtype);

}  // namespace branchmark
