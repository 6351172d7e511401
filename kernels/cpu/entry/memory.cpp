// Device memory is ordinary memory; copies happen at once.
#include <cstdlib>
#include <cstring>

#include "entry/api.hpp"
#include "entry/boundary.hpp"
#include "entry/host.hpp"
#include "entry/objects.hpp"

namespace branchmark::cpu {
namespace {

constexpr int64_t kAlignment = 256;

bmk_status allocate(bmk_device* device, int64_t bytes, void** data) {
  return guarded([&] {
    require(device, "device");
    require(data, "data");
    *data = nullptr;
    if (bytes <= 0 || bytes > INT64_MAX - kAlignment) {
      throw Failure{BMK_INVALID_ARGUMENT, "bytes is " + std::to_string(bytes) + ", wanted more than 0"};
    }
    // A system that overcommits would promise more than there is.
    const int64_t total = total_memory_bytes();
    if (total < 0 || bytes <= total) {
      const int64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
      *data = std::aligned_alloc(kAlignment, static_cast<std::size_t>(rounded));
    }
    if (*data == nullptr) {
      throw Failure{BMK_OUT_OF_MEMORY, "cannot allocate " + std::to_string(bytes) +
                                           " bytes; the machine has " + std::to_string(total)};
    }
  });
}

void release(bmk_device*, void* data) {
  std::free(data);
}

bmk_status copy(bmk_stream* stream, void* destination, const void* source, int64_t bytes) {
  return guarded([&] {
    require(stream, "stream");
    if (bytes < 0) {
      throw Failure{BMK_INVALID_ARGUMENT, "bytes is " + std::to_string(bytes) + ", wanted 0 or more"};
    }
    if (bytes == 0) return;
    require(destination, "destination");
    require(source, "source");
    memcpy(destination, source, static_cast<std::size_t>(bytes));
  });
}

bmk_status fill(bmk_stream* stream, void* data, int32_t value, int64_t bytes) {
  return guarded([&] {
    require(stream, "stream");
    if (value < 0 || value > 255 || bytes < 0) {
      throw Failure{BMK_INVALID_ARGUMENT, "value is " + std::to_string(value) + " and bytes " +
                                              std::to_string(bytes) +
                                              ", wanted a value of 0 to 255 and 0 bytes or more"};
    }
    if (bytes == 0) return;
    require(data, "data");
    memset(data, value, static_cast<std::size_t>(bytes));
  });
}

}  // namespace

const bmk_memory_api kMemoryApi{
    .struct_size = sizeof(bmk_memory_api),
    .allocate = allocate,
    .release = release,
    .allocate_host = allocate,
    .release_host = release,
    .copy_to_device = copy,
    .copy_to_host = copy,
    .copy_on_device = copy,
    .fill = fill,
};

}  // namespace branchmark::cpu
