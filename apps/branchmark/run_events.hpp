// What running the cases of a scenario tells, whichever process runs them.
//
//   opened, then for each case begins and ended, then closing; or an exception in between.
#pragma once

#include <cstdint>
#include <string>

#include "branchmark/report/report.hpp"

namespace branchmark::app {

class RunEvents {
 public:
  virtual ~RunEvents() = default;

  // Device and model are open: `facts` has device, kernels, model and device_before. `note` says why this
  // device was chosen, or is empty.
  virtual void opened(const Report& facts, std::int64_t num_cases, const std::string& note) = 0;
  // `named` has the case's check and parameters. `planned_s`: how long it will take, 0 where that is not
  // known. False: neither this case nor any after it is to run.
  virtual bool begins(const CaseRecord& named, double planned_s) = 0;
  virtual void ended(CaseRecord record) = 0;
  // No further case begins: `facts` has the GEMM tables and device_after too.
  virtual void closing(const Report& facts) = 0;
};

}  // namespace branchmark::app
