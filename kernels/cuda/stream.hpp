// A stream of the ABI, and how an op reaches the CUDA stream behind it.
#pragma once

#include "device.hpp"

struct bmk_stream {
  bmk_device* device = nullptr;
  cudaStream_t handle = nullptr;
  // num_failures() when the recording in progress began; meaningful while `recording`.
  bool recording = false;
  std::uint64_t failures_at_begin = 0;
};

namespace branchmark::cuda {

// The CUDA stream of `stream`, whose device becomes the calling thread's current one. First thing in every
// op. Refuses NULL.
cudaStream_t activate(const bmk_stream* stream);

extern const bmk_stream_api kStreamApi;

}  // namespace branchmark::cuda
