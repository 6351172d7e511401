// Launching a kernel with more shared memory than the 48 KiB that a block gets unasked.
#pragma once

#include "common.cuh"

namespace branchmark::cuda {

// Once before each launch; touches no stream. Refuses a device whose blocks cannot have that much.
template <typename Kernel>
void allow_shared_bytes(const bmk_stream* stream, Kernel* kernel, int bytes, const char* op) {
  if (bytes > stream->device->shared_bytes_per_block)
    fail(BMK_UNSUPPORTED, std::string(op) + ": needs " + std::to_string(bytes) +
                              " bytes of shared memory a block, this device has " +
                              std::to_string(stream->device->shared_bytes_per_block));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), op);
}

}  // namespace branchmark::cuda
