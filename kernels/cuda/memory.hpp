// The functions of the ABI's memory group, and the owner of temporary device memory inside the module.
#pragma once

#include <utility>

#include "stream.hpp"

namespace branchmark::cuda {

extern const bmk_memory_api kMemoryApi;

// Device memory of the current device. Allocating may synchronise; so does freeing.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::int64_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceBuffer() { check_quietly(cudaFree(data_)); }

  void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace branchmark::cuda
