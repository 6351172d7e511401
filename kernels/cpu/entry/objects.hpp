// What stands behind the opaque types of the ABI, except the GEMM handle (gemm/handle.hpp). The module
// executes in the call that queues, so a stream is only its device and an event only a point in time.
#pragma once

#include <chrono>
#include <optional>

#include "branchmark/kernels.h"
#include "compute.hpp"
#include "entry/instruction_set.hpp"
#include "workers.hpp"

struct bmk_device {
  branchmark::cpu::InstructionSet instruction_set;
  branchmark::cpu::Workers workers;

  const branchmark::cpu::Compute& compute() const { return *instruction_set.compute; }
};

struct bmk_stream {
  bmk_device* device;
};

struct bmk_event {
  std::optional<std::chrono::steady_clock::time_point> recorded;
};
