// Which device a run uses: from the words of `--device`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "branchmark/device/context.hpp"

namespace branchmark {

struct DeviceChoice {
  std::shared_ptr<const KernelLibrary> library;
  std::int64_t index = 0;
  std::string note;  // why `auto` chose it; empty otherwise
};

// What is wrong with a word of `--device` by itself, without looking for any device; empty where nothing is.
std::string check_device_name(const std::string& text);

// `wanted`: "auto" (the first eligible CUDA device, else the CPU), "cpu", "cuda" (device 0), "cuda:N", or a
// UUID. `kernels`: another module file; devices are then its own, and "cpu" or "auto" mean its first. Opens
// no device. Throws usage for a word that means nothing, not_eligible for a device that is not there or
// cannot be used.
DeviceChoice select_device(const std::string& wanted, const std::optional<std::filesystem::path>& kernels);

}  // namespace branchmark
