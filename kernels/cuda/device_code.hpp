// Whether this build of the module holds code for a device: a build may be cut down to a few architectures.
#pragma once

namespace branchmark::cuda {

// Refuses the current device with BMK_NO_DEVICE where the module has no code for it.
void require_device_code();

}  // namespace branchmark::cuda
