// The module that counts and fails (tests/modules/counting_ops.h), as tests use it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "branchmark/device/context.hpp"
#include "modules/counting_ops.h"

namespace branchmark::test {

class CountingModule {
 public:
  CountingModule() : library_(KernelLibrary::load(BRANCHMARK_COUNTING_MODULE)) {}

  const std::shared_ptr<const KernelLibrary>& library() const { return library_; }
  // One thread: the models are too small for more.
  std::shared_ptr<Context> open() const { return Context::open(library_, 0, {.num_threads = 1}); }

  counting_counts counts() const {
    counting_counts counts;
    control().read(&counts);
    return counts;
  }
  std::int64_t calls_of(const char* entry) const { return control().calls_of(entry); }
  std::string failed_entry() const { return control().failed_entry(); }
  void fail_call(std::int64_t nth, bmk_status status) const { control().fail_call(nth, status); }

 private:
  const counting_control& control() const {
    return reinterpret_cast<const counting_kernels&>(library_->table()).control;
  }

  std::shared_ptr<const KernelLibrary> library_;
};

// The nth fallible call fails, while this lives.
class FailingCall {
 public:
  FailingCall(const CountingModule& module, std::int64_t nth, bmk_status status = BMK_FAILED)
      : module_(module) {
    module_.fail_call(nth, status);
  }
  ~FailingCall() { module_.fail_call(0, BMK_OK); }
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;

 private:
  const CountingModule& module_;
};

inline void expect_same_live(const counting_counts& expected, const counting_counts& found) {
  EXPECT_EQ(found.devices, expected.devices);
  EXPECT_EQ(found.streams, expected.streams);
  EXPECT_EQ(found.events, expected.events);
  EXPECT_EQ(found.graphs, expected.graphs);
  EXPECT_EQ(found.gemms, expected.gemms);
  EXPECT_EQ(found.buffers, expected.buffers);
  EXPECT_EQ(found.buffer_bytes, expected.buffer_bytes);
  EXPECT_EQ(found.host_buffers, expected.host_buffers);
}

inline void expect_live_within(const counting_counts& bound, const counting_counts& found) {
  EXPECT_LE(found.devices, bound.devices);
  EXPECT_LE(found.streams, bound.streams);
  EXPECT_LE(found.events, bound.events);
  EXPECT_LE(found.graphs, bound.graphs);
  EXPECT_LE(found.gemms, bound.gemms);
  EXPECT_LE(found.buffers, bound.buffers);
  EXPECT_LE(found.buffer_bytes, bound.buffer_bytes);
  EXPECT_LE(found.host_buffers, bound.host_buffers);
}

// Runs `action` with its nth module call failing, and holds what a failure promises: an Error that names the
// call, nothing left on the stream, and no memory released under queued work. Returns whether it threw.
template <class Action>
bool fail_at(const CountingModule& module, std::int64_t nth, const Action& action) {
  const auto before = module.counts();
  bool threw = false;
  {
    const FailingCall failing(module, nth);
    try {
      action();
    } catch (const Error& error) {
      threw = true;
      EXPECT_EQ(error.code(), ErrorCode::kernel) << error.what();
      EXPECT_NE(std::string(error.what()).find("injected failure of " + module.failed_entry()),
                std::string::npos)
          << error.what();
    }
  }
  const auto after = module.counts();
  EXPECT_EQ(after.failed_calls, before.failed_calls + 1) << "the call was never made";
  EXPECT_EQ(after.queued, 0);
  EXPECT_EQ(after.released_while_queued, before.released_while_queued);
  return threw;
}

}  // namespace branchmark::test
