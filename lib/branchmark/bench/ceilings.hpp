// The ceilings of a device as measured: what a large product and a large copy reach through the kernel module
// itself. Shares of these say how much is left to gain on this device; shares of a data sheet's figures would
// also hold its power limit and its clocks against the kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "branchmark/device/context.hpp"

namespace branchmark {

struct Ceilings {
  // [size, size] · [size, size], bf16, random data, the module's own choice of algorithm.
  std::int64_t product_size = 0;
  std::vector<double> product_ns;
  // A copy within device memory, which reads and writes each byte.
  std::int64_t copy_bytes = 0;
  std::vector<double> copy_ns;

  double product_flop() const;
  double moved_bytes() const { return 2.0 * static_cast<double>(copy_bytes); }
  // By the medians.
  double flop_per_second() const;
  double bytes_per_second() const;
};

// Up to 8192 and 4 GiB, less where a smaller one takes a millisecond or memory is short. Allocates what it
// needs and frees it again; synchronises.
Ceilings measure_ceilings(std::shared_ptr<Context> context);

}  // namespace branchmark
