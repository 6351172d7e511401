#include "device_code.hpp"

#include "error.hpp"

#ifndef BRANCHMARK_CUDA_ARCHITECTURES
#error "BRANCHMARK_CUDA_ARCHITECTURES names the architectures of the build, for the refusal's message"
#endif

namespace branchmark::cuda {
namespace {

// Stands for all kernels, which are built for the same architectures.
__global__ void __launch_bounds__(32) device_code_kernel() {}

}  // namespace

void require_device_code() {
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, device_code_kernel);
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion) {
    check_quietly(error);
    fail(BMK_NO_DEVICE,
         "the module holds no code for this device; it was built for " BRANCHMARK_CUDA_ARCHITECTURES
         " (set CMAKE_CUDA_ARCHITECTURES)");
  }
  check(error, "cudaFuncGetAttributes");
}

}  // namespace branchmark::cuda
