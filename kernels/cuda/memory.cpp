#include "memory.hpp"

#include "validate.hpp"

namespace branchmark::cuda {
namespace {

// A queued copy of nothing is a success, so that callers need no special case.
void copy(bmk_stream* stream, void* destination, const void* source, std::int64_t bytes,
          cudaMemcpyKind kind) {
  const cudaStream_t queue = activate(stream);
  require_at_least(bytes, 0, "bytes");
  if (bytes == 0) return;
  require_pointer(destination, "destination");
  require_pointer(source, "source");
  check(cudaMemcpyAsync(destination, source, static_cast<std::size_t>(bytes), kind, queue),
        "cudaMemcpyAsync");
}

std::string allocation_text(const char* call, std::int64_t bytes) {
  return std::string(call) + " of " + std::to_string(bytes) + " bytes";
}

bmk_status memory_allocate(bmk_device* device, std::int64_t bytes, void** data) {
  return guarded([&] {
    require_pointer(data, "memory.allocate: data");
    *data = nullptr;
    activate(device);
    require_at_least(bytes, 1, "memory.allocate: bytes");
    check(cudaMalloc(data, static_cast<std::size_t>(bytes)), allocation_text("cudaMalloc", bytes).c_str());
  });
}

void memory_release(bmk_device* device, void* data) {
  if (data == nullptr) return;
  static_cast<void>(guarded([&] { activate(device); }));
  check_quietly(cudaFree(data));
}

bmk_status memory_allocate_host(bmk_device* device, std::int64_t bytes, void** data) {
  return guarded([&] {
    require_pointer(data, "memory.allocate_host: data");
    *data = nullptr;
    activate(device);
    require_at_least(bytes, 1, "memory.allocate_host: bytes");
    check(cudaMallocHost(data, static_cast<std::size_t>(bytes)),
          allocation_text("cudaMallocHost", bytes).c_str());
  });
}

void memory_release_host(bmk_device* device, void* data) {
  if (data == nullptr) return;
  static_cast<void>(guarded([&] { activate(device); }));
  check_quietly(cudaFreeHost(data));
}

bmk_status memory_copy_to_device(bmk_stream* stream, void* destination, const void* source,
                                 std::int64_t bytes) {
  return guarded([&] { copy(stream, destination, source, bytes, cudaMemcpyHostToDevice); });
}

bmk_status memory_copy_to_host(bmk_stream* stream, void* destination, const void* source,
                               std::int64_t bytes) {
  return guarded([&] { copy(stream, destination, source, bytes, cudaMemcpyDeviceToHost); });
}

bmk_status memory_copy_on_device(bmk_stream* stream, void* destination, const void* source,
                                 std::int64_t bytes) {
  return guarded([&] { copy(stream, destination, source, bytes, cudaMemcpyDeviceToDevice); });
}

bmk_status memory_fill(bmk_stream* stream, void* data, std::int32_t value, std::int64_t bytes) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_at_least(bytes, 0, "memory.fill: bytes");
    if (value < 0 || value > 255)
      fail(BMK_INVALID_ARGUMENT, "memory.fill: value is " + std::to_string(value) + ", wanted 0..255");
    if (bytes == 0) return;
    require_pointer(data, "memory.fill: data");
    check(cudaMemsetAsync(data, value, static_cast<std::size_t>(bytes), queue), "cudaMemsetAsync");
  });
}

}  // namespace

DeviceBuffer::DeviceBuffer(std::int64_t bytes) {
  check(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), allocation_text("cudaMalloc", bytes).c_str());
}

const bmk_memory_api kMemoryApi = {sizeof(bmk_memory_api), memory_allocate,       memory_release,
                                   memory_allocate_host,   memory_release_host,   memory_copy_to_device,
                                   memory_copy_to_host,    memory_copy_on_device, memory_fill};

}  // namespace branchmark::cuda
