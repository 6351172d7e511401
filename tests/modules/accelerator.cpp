// The CPU module with graphs, saying that it is no CPU: what stands above then treats it as a device with a
// stream of its own, and tests see those paths without one.
#include <dlfcn.h>

#include <cstdio>

#include "branchmark/kernels.h"

namespace {

const bmk_kernels* real() {
  static const bmk_kernels* const table = []() -> const bmk_kernels* {
    void* library = dlopen(BRANCHMARK_GRAPH_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    void* symbol = dlsym(library, BMK_ENTRY_POINT);
    return symbol == nullptr ? nullptr : reinterpret_cast<bmk_entry_point>(symbol)();
  }();
  return table;
}

bmk_status describe(int64_t index, bmk_device_info* info) {
  const auto status = real()->device->describe(index, info);
  if (status != BMK_OK) return status;
  info->is_cpu = 0;
  // What keeps a stream busy is sized by it.
  info->memory_bytes = int64_t{64} << 20;
  std::snprintf(info->name, sizeof info->name, "test accelerator");
  return status;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const bmk_kernels* branchmark_kernels(void) {
  if (real() == nullptr) return nullptr;
  static const bmk_device_api device = [] {
    auto api = *real()->device;
    api.describe = describe;
    return api;
  }();
  static const bmk_kernels table = [] {
    auto copy = *real();
    copy.name = "accelerator";
    copy.device = &device;
    return copy;
  }();
  return &table;
}
