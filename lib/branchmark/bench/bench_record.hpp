// From measurements to the records of cases.
#pragma once

#include "branchmark/bench/bench_run.hpp"
#include "branchmark/report/case_record.hpp"

namespace branchmark {

void record_ceiling(CaseRecord& record, BenchDevice& device, bool product);

// One pass of one prompt, by forward or forward_fixed.
void record_single(CaseRecord& record, BenchRun& run, const BenchRun::Request& request);

// Prompts of `shape`, answered in one of the ways. A request of one prompt alone stands for each of them: its
// times are multiplied by their number, and say so.
void record_shared(CaseRecord& record, BenchRun& run, const BenchRun::Request& request,
                   const PromptsShape& shape);

// One workload on both sides, side by side: see against.hpp.
void record_pair(CaseRecord& record, BenchRun& run, const BenchRun::Request& a, const BenchRun::Request& b);

}  // namespace branchmark
