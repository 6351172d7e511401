// The table of the CPU module and its one exported symbol.
#include "branchmark/kernels.h"

#include "entry/api.hpp"
#include "entry/boundary.hpp"

namespace branchmark::cpu {
namespace {

const char* last_error_of_thread() {
  return last_error();
}

constexpr bmk_kernels kKernels{
    .abi_version = BMK_ABI_VERSION,
    .struct_size = sizeof(bmk_kernels),
    .name = "cpu",
    .build_id = BRANCHMARK_BUILD_ID,
    .last_error = last_error_of_thread,
    .device = &kDeviceApi,
    .memory = &kMemoryApi,
    .stream = &kStreamApi,
    .event = &kEventApi,
    .graph = &kGraphApi,
    .gemm = &kGemmApi,
    .ops = &kOpsApi,
};

}  // namespace
}  // namespace branchmark::cpu

extern "C" __attribute__((visibility("default"))) const bmk_kernels* branchmark_kernels() {
  return &branchmark::cpu::kKernels;
}
