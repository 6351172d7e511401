// How a failure travels inside the module and leaves it.
//
// Inside, a failure is a thrown `Failure`, which carries the status of the C ABI and a message. Every
// function of the table runs its body in `guarded`, which turns whatever was thrown into a status and keeps
// the message for `last_error()`. Destructors use the quiet twin of `check`.
//
// Thread-safety: all state is of the calling thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "branchmark/kernels.h"

namespace branchmark::cuda {

class Failure : public std::exception {
 public:
  Failure(bmk_status status, std::string message) : status_(status), message_(std::move(message)) {}

  bmk_status status() const noexcept { return status_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  bmk_status status_;
  std::string message_;
};

[[noreturn]] void fail(bmk_status status, std::string message);

// The status of the ABI that stands for a CUDA error: out of memory, no usable device, a fault after which
// the context is dead, or any other.
bmk_status status_of(cudaError_t error) noexcept;

// Throws a Failure that names `what` (the call, or the op) unless `error` is success. Also clears the
// runtime's own record of the error, so that a later launch check does not report it a second time.
void check(cudaError_t error, const char* what);

// For destructors: clears the runtime's record and keeps silent.
void check_quietly(cudaError_t error) noexcept;

// Reports a launch that the runtime refused. Stands after every <<<>>>.
inline void check_launch(const char* op) {
  check(cudaGetLastError(), op);
}

// Text of the calling thread's last failure.
const char* last_error() noexcept;
void set_last_error(const char* message) noexcept;

// Calls that failed on the calling thread so far. A recording compares it at both ends, since an op that was
// refused before it reached the stream leaves no other trace there.
std::uint64_t num_failures() noexcept;

// Maps the exception in flight to a status and records its message.
bmk_status status_of_current_exception() noexcept;

// Runs `body` and returns BMK_OK, or the status of what it threw.
template <typename Body>
bmk_status guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return BMK_OK;
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace branchmark::cuda
