// An open device with one stream: what the model library drives a kernel module through.
//
// Every call into the module passes through `call`, which counts it and turns a failing status into an Error.
// That one place is why "a refusal makes no call" can be proven for any module. Where a call fails, the
// stream is waited for before the Error is thrown: nothing is queued any more that could use what unwinding
// frees. A Context and what was made from it are used by one thread at a time; different contexts are
// independent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "branchmark/base/error.hpp"
#include "branchmark/device/kernel_library.hpp"
#include "branchmark/kernels.h"

namespace branchmark {

// What has been asked of the module through an open context. `calls` counts every call, releases included.
struct CallCounters {
  std::int64_t calls = 0;
  std::int64_t ops = 0;
  std::int64_t gemms = 0;
  std::int64_t allocations = 0;
  std::int64_t live_buffers = 0;
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
};

struct DeviceOptions {
  std::int64_t num_threads = 0;  // CPU modules: 0 for all that the process may use
};

class Context {
 public:
  // Opens device `index` and makes a stream. Throws not_eligible where that cannot be done.
  static std::shared_ptr<Context> open(std::shared_ptr<const KernelLibrary> library, std::int64_t index,
                                       const DeviceOptions& options = {});
  // Describes a device without opening it.
  static bmk_device_info describe(const KernelLibrary& library, std::int64_t index);
  static std::int64_t count(const KernelLibrary& library);

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const KernelLibrary& library() const noexcept { return *library_; }
  const bmk_kernels& table() const noexcept { return library_->table(); }
  const bmk_device_info& info() const noexcept { return info_; }
  bmk_device* device() const noexcept { return device_; }
  bmk_stream* stream() const noexcept { return stream_; }
  CallCounters& counters() noexcept { return counters_; }
  const CallCounters& counters() const noexcept { return counters_; }

  // Calls a function of the table. Throws kernel, hardware_fault, not_eligible or unserved_size, with the
  // module's own words behind `what`.
  template <class Function, class... Args>
  void call(const char* what, Function function, Args... args) {
    ++counters_.calls;
    check(what, function(args...));
  }

  // Waits and throws as `call` does for a status other than BMK_OK.
  void check(std::string_view what, bmk_status status);

  // Queues an op on the stream. `what` is the op's name in messages.
  template <class Args>
  void op(const char* what, bmk_status (*function)(bmk_stream*, const Args*), const Args& args) {
    ++counters_.ops;
    call(what, function, stream_, &args);
  }

  // Waits until the stream has done all that was queued.
  void synchronize();
  // As synchronize, for clean-up after a failure: reports nothing.
  void synchronize_quietly() noexcept;

  void copy_to_device(void* destination, const void* host_source, std::int64_t bytes);
  void copy_to_host(void* host_destination, const void* source, std::int64_t bytes);
  void copy_on_device(void* destination, const void* source, std::int64_t bytes);
  void fill(void* data, int value, std::int64_t bytes);

  std::int64_t free_bytes();

 private:
  Context(std::shared_ptr<const KernelLibrary> library, bmk_device* device, bmk_device_info info)
      : library_(std::move(library)), device_(device), info_(info) {}

  std::shared_ptr<const KernelLibrary> library_;
  bmk_device* device_ = nullptr;
  bmk_stream* stream_ = nullptr;
  bmk_device_info info_{};
  CallCounters counters_;
};

}  // namespace branchmark
