// An opened device, and the functions of the ABI's device group.
#pragma once

#include "error.hpp"

// What kernels and tuning ask of the device is read once, at open.
struct bmk_device {
  int ordinal = 0;
  int num_multiprocessors = 0;
  int compute_capability = 0;  // 10 · major + minor
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes_per_block = 0;  // opt-in limit
};

namespace branchmark::cuda {

// Makes the device current in the calling thread; refuses NULL.
void activate(const bmk_device* device);

// Describes a device by its ordinal, without creating a context.
bmk_device_info describe_device(int ordinal);

extern const bmk_device_api kDeviceApi;

}  // namespace branchmark::cuda
