#include "device.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "device_code.hpp"
#include "driver_version.hpp"
#include "validate.hpp"

namespace branchmark::cuda {
namespace {

constexpr int kMinComputeCapability = 80;

// Truncates to the field, which always ends in NUL.
template <std::size_t kCapacity>
void copy_text(char (&field)[kCapacity], std::string_view text) {
  const std::size_t length = text.size() < kCapacity ? text.size() : kCapacity - 1;
  std::memcpy(field, text.data(), length);
  field[length] = '\0';
}

// 13000 stands for 13.0, of the runtime and of the newest runtime that a driver serves.
std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// cublasLtGetVersion: 10000 · major + 100 · minor + patch.
std::string blas_version_text() {
  const std::size_t version = cublasLtGetVersion();
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::string uuid_text(const cudaUUID_t& uuid, bool mig) {
  std::string text = mig ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += digits;
  }
  return text;
}

std::string driver_text() {
  int cuda_version = 0;
  check(cudaDriverGetVersion(&cuda_version), "cudaDriverGetVersion");
  const std::string version = driver_version();
  const std::string cuda = "CUDA " + cuda_version_text(cuda_version);
  return version.empty() ? cuda : version + " (" + cuda + ")";
}

// Why the runtime sees no device, or empty where it does; the count goes to `count`.
std::string count_devices(int& count) {
  count = 0;
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  if (driver == 0) return "no NVIDIA driver is installed (libcuda.so.1 was not found)";
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess) return count == 0 ? "the NVIDIA driver shows no device" : "";
  if (status_of(error) != BMK_NO_DEVICE) check(error, "cudaGetDeviceCount");
  check_quietly(error);
  count = 0;
  return std::string(cudaGetErrorString(error)) + " (driver for CUDA " + cuda_version_text(driver) +
         ", the module needs CUDA " + cuda_version_text(runtime) + ")";
}

void require_index(std::int64_t index) {
  int count = 0;
  const std::string reason = count_devices(count);
  if (index >= 0 && index < count) return;
  fail(BMK_NO_DEVICE, "device " + std::to_string(index) + " does not exist: " +
                          (reason.empty() ? "there are " + std::to_string(count) : reason));
}

std::string ineligible_reason(int ordinal, const cudaDeviceProp& properties) {
  if (properties.major * 10 + properties.minor < kMinComputeCapability)
    return "compute capability " + std::to_string(properties.major) + "." + std::to_string(properties.minor) +
           ", the kernels need 8.0 or later";
  int mode = cudaComputeModeDefault;
  check(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, ordinal), "cudaDeviceGetAttribute");
  if (mode == cudaComputeModeProhibited)
    return "its compute mode is 'prohibited' (nvidia-smi --compute-mode)";
  return "";
}

bmk_status device_count(std::int64_t* count) {
  return guarded([&] {
    require_pointer(count, "count");
    int found = 0;
    const std::string reason = count_devices(found);
    *count = found;
    if (found == 0) set_last_error(reason.c_str());
  });
}

bmk_status device_describe(std::int64_t index, bmk_device_info* info) {
  return guarded([&] {
    require_pointer(info, "device.describe: info");
    const std::int64_t size = info->struct_size;
    require_at_least(size, sizeof info->struct_size, "device.describe: struct_size");
    require_index(index);
    bmk_device_info full = describe_device(static_cast<int>(index));
    full.struct_size = size;
    // A caller built against an older header has room for the members that it knows.
    std::memcpy(info, &full, std::min(static_cast<std::size_t>(size), sizeof full));
  });
}

bmk_status device_open(std::int64_t index, const bmk_device_options* options, bmk_device** device) {
  return guarded([&] {
    require_pointer(device, "device.open: device");
    *device = nullptr;
    if (options != nullptr) require_args(options, "device.open");
    require_index(index);
    const int ordinal = static_cast<int>(index);
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
    const std::string reason = ineligible_reason(ordinal, properties);
    if (!reason.empty())
      fail(BMK_NO_DEVICE,
           "device " + std::to_string(index) + " (" + properties.name + ") cannot be used: " + reason);
    auto opened = std::make_unique<bmk_device>();
    opened->ordinal = ordinal;
    opened->num_multiprocessors = properties.multiProcessorCount;
    opened->compute_capability = properties.major * 10 + properties.minor;
    opened->l2_bytes = properties.l2CacheSize;
    opened->shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
    activate(opened.get());
    require_device_code();
    *device = opened.release();
  });
}

void device_close(bmk_device* device) {
  delete device;
}

bmk_status device_memory_info(bmk_device* device, std::int64_t* free_bytes, std::int64_t* total_bytes) {
  return guarded([&] {
    activate(device);
    require_pointer(free_bytes, "device.memory_info: free_bytes");
    require_pointer(total_bytes, "device.memory_info: total_bytes");
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    *free_bytes = static_cast<std::int64_t>(free);
    *total_bytes = static_cast<std::int64_t>(total);
  });
}

bmk_status device_synchronize(bmk_device* device) {
  return guarded([&] {
    activate(device);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  });
}

}  // namespace

void activate(const bmk_device* device) {
  require_pointer(device, "device");
  int current = -1;
  check(cudaGetDevice(&current), "cudaGetDevice");
  // The thread's default ordinal may have no context yet, which cudaSetDevice makes.
  thread_local bool chosen = false;
  if (chosen && current == device->ordinal) return;
  check(cudaSetDevice(device->ordinal), "cudaSetDevice");
  chosen = true;
}

bmk_device_info describe_device(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  int runtime = 0;
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  // A slice of a GPU carries its profile in its name: "NVIDIA H200 MIG 1g.18gb".
  const bool mig = std::string_view(properties.name).find(" MIG ") != std::string_view::npos;
  char pci_id[32];
  std::snprintf(pci_id, sizeof pci_id, "%08x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));

  bmk_device_info info{};
  info.struct_size = sizeof info;
  copy_text(info.name, properties.name);
  copy_text(info.uuid, uuid_text(properties.uuid, mig));
  copy_text(info.pci_id, pci_id);
  copy_text(info.architecture, "sm_" + std::to_string(properties.major * 10 + properties.minor));
  copy_text(info.driver_version, driver_text());
  copy_text(info.runtime_version, cuda_version_text(runtime));
  copy_text(info.blas_version, blas_version_text());
  copy_text(info.ineligible_reason, ineligible_reason(ordinal, properties));
  info.multiprocessors = properties.multiProcessorCount;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.l2_bytes = properties.l2CacheSize;
  info.supports_graphs = 1;
  info.ecc = properties.ECCEnabled != 0 ? 1 : 0;
  info.mig = mig ? 1 : 0;
  info.is_cpu = 0;
  return info;
}

const bmk_device_api kDeviceApi = {sizeof(bmk_device_api), device_count,       device_describe,   device_open,
                                   device_close,           device_memory_info, device_synchronize};

}  // namespace branchmark::cuda
