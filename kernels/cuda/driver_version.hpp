// The version of the installed driver ("580.95.05"), which the CUDA runtime does not tell.
#pragma once

#include <string>

namespace branchmark::cuda {

// Asks NVML, opened at run time since a machine without a driver has none. Empty where it cannot be asked.
std::string driver_version();

}  // namespace branchmark::cuda
