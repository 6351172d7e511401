// NVIDIA's management library, opened at run time.
#pragma once

#include <memory>
#include <string>

#include "branchmark/device/telemetry.hpp"

namespace branchmark {

// The telemetry of the device with this UUID, or where it has none or NVML does not know it, with this PCI
// id. Where the library is missing, cannot start or knows no such device, a source that says so. Throws
// hardware_fault where the device is lost.
std::unique_ptr<TelemetrySource> open_nvml(const std::string& uuid, const std::string& pci_id);

}  // namespace branchmark
