// An event of the ABI, and the functions of its group.
#pragma once

#include "stream.hpp"

struct bmk_event {
  bmk_device* device = nullptr;
  cudaEvent_t handle = nullptr;
};

namespace branchmark::cuda {

extern const bmk_event_api kEventApi;

}  // namespace branchmark::cuda
