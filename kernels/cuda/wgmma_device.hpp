// Whether a device runs the kernels on wgmma. It decides for all sizes alike, so that a row's bits do not
// hang on what is computed beside it.
#pragma once

#include "device.hpp"

namespace branchmark::cuda {

// The device has the instruction, and the build has code for it.
inline bool has_wgmma([[maybe_unused]] const bmk_device& device) {
#ifdef BRANCHMARK_CUDA_SM90A
  return device.compute_capability == 90;
#else
  return false;
#endif
}

}  // namespace branchmark::cuda
