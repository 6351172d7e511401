#include "driver_version.hpp"

#include <dlfcn.h>

#include <memory>

namespace branchmark::cuda {

// The three functions are declared here as nvml.h has them (0 is success), because the toolkit's headers may
// come without NVML's.
std::string driver_version() {
  const auto close = [](void* library) { dlclose(library); };
  const std::unique_ptr<void, decltype(close)> library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL),
                                                       close);
  if (!library) return "";
  const auto init = reinterpret_cast<int (*)()>(dlsym(library.get(), "nvmlInit_v2"));
  const auto shutdown = reinterpret_cast<int (*)()>(dlsym(library.get(), "nvmlShutdown"));
  const auto get_version =
      reinterpret_cast<int (*)(char*, unsigned)>(dlsym(library.get(), "nvmlSystemGetDriverVersion"));
  if (init == nullptr || shutdown == nullptr || get_version == nullptr || init() != 0) return "";
  char text[96] = "";
  const bool known = get_version(text, sizeof text) == 0;
  shutdown();
  return known ? text : "";
}

}  // namespace branchmark::cuda
