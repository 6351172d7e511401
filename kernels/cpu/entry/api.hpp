// The function tables of the module, one for each group of the ABI.
#pragma once

#include "branchmark/kernels.h"

namespace branchmark::cpu {

extern const bmk_device_api kDeviceApi;
extern const bmk_memory_api kMemoryApi;
extern const bmk_stream_api kStreamApi;
extern const bmk_event_api kEventApi;
extern const bmk_graph_api kGraphApi;
extern const bmk_gemm_api kGemmApi;
extern const bmk_ops_api kOpsApi;

}  // namespace branchmark::cpu
