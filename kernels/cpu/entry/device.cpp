// The one device of the module: this machine's processor.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "entry/api.hpp"
#include "entry/boundary.hpp"
#include "entry/host.hpp"
#include "entry/objects.hpp"

namespace branchmark::cpu {
namespace {

void require_index(int64_t index) {
  if (index == 0) return;
  throw Failure{BMK_NO_DEVICE,
                "device index is " + std::to_string(index) + ", wanted 0: a CPU is one device"};
}

template <std::size_t kBytes>
void copy_text(char (&to)[kBytes], const std::string& from) {
  const std::size_t length = std::min(from.size(), kBytes - 1);
  memcpy(to, from.data(), length);
  to[length] = '\0';
}

bmk_status count(int64_t* count) {
  return guarded([&] {
    require(count, "count");
    *count = 1;
  });
}

bmk_status describe(int64_t index, bmk_device_info* info) {
  return guarded([&] {
    require(info, "info");
    require_struct_size("info", info->struct_size, sizeof(int64_t));
    require_index(index);
    bmk_device_info full{};
    full.struct_size = info->struct_size;
    copy_text(full.name, processor_name());
    copy_text(full.architecture, architecture());
    full.multiprocessors = hardware_threads();
    full.memory_bytes = total_memory_bytes();
    full.l2_bytes = second_level_cache_bytes();
    full.ecc = -1;
    full.is_cpu = 1;
    memcpy(info, &full, std::min(static_cast<std::size_t>(info->struct_size), sizeof full));
  });
}

bmk_status open(int64_t index, const bmk_device_options* options, bmk_device** device) {
  return guarded([&] {
    require(device, "device");
    *device = nullptr;
    require_index(index);
    int64_t num_threads = 0;
    if (options != nullptr) {
      require_struct_size("options", options->struct_size, sizeof(bmk_device_options));
      num_threads = options->num_threads;
    }
    if (num_threads < 0) {
      throw Failure{BMK_INVALID_ARGUMENT,
                    "options.num_threads is " + std::to_string(num_threads) + ", wanted 0 or more"};
    }
    *device = new bmk_device{choose_instruction_set(), Workers(num_threads)};
  });
}

void close(bmk_device* device) {
  delete device;
}

bmk_status memory_info(bmk_device* device, int64_t* free_bytes, int64_t* total_bytes) {
  return guarded([&] {
    require(device, "device");
    require(free_bytes, "free_bytes");
    require(total_bytes, "total_bytes");
    *free_bytes = available_memory_bytes();
    *total_bytes = total_memory_bytes();
  });
}

bmk_status synchronize(bmk_device* device) {
  return guarded([&] { require(device, "device"); });
}

}  // namespace

const bmk_device_api kDeviceApi{
    .struct_size = sizeof(bmk_device_api),
    .count = count,
    .describe = describe,
    .open = open,
    .close = close,
    .memory_info = memory_info,
    .synchronize = synchronize,
};

}  // namespace branchmark::cpu
