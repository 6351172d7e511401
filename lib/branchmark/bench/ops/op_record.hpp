// From the measurement of an op to the record of its case: the same form as the model's cases have.
#pragma once

#include "branchmark/bench/ops/op_run.hpp"
#include "branchmark/report/case_record.hpp"

namespace branchmark::ops {

void record_op(CaseRecord& record, OpRun& run, const OpRun::Request& request);

// One op on both sides: see against.hpp.
void record_op_pair(CaseRecord& record, OpRun& run, const OpRun::Request& a, const OpRun::Request& b);

}  // namespace branchmark::ops
