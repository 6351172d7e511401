// What runs products for a handle: the device's workers and instruction set, and scratch memory of its own.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "entry/objects.hpp"
#include "gemm/algorithm.hpp"

namespace branchmark::cpu {

class GemmRunner {
 public:
  // Throws std::bad_alloc. The device must outlive the runner.
  explicit GemmRunner(bmk_device& device) : device_(&device) {
    constexpr std::size_t kAlignment = 256;
    const auto bytes =
        static_cast<std::size_t>(device.compute().gemm_scratch_bytes(device.workers.num_threads()));
    scratch_.reset(std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment));
    if (scratch_ == nullptr) throw std::bad_alloc();
  }

  bmk_device& device() const { return *device_; }

  // Arguments were checked. One product at a time.
  void run(const GemmAlgorithm& algorithm, const bmk_gemm_args& args) const {
    device_->compute().gemm(device_->workers, algorithm, args, scratch_.get());
  }

 private:
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  bmk_device* device_;
  std::unique_ptr<void, Free> scratch_;
};

}  // namespace branchmark::cpu
