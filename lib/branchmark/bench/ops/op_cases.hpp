// The cases of `bench --ops`: every op of the kernel ABI at the model's sizes, run by Google Benchmark.
//
//   ceiling/kind=product|copy
//   op/name=rms_norm,tokens=...,seed=...
//   op/name=gemm,projection=gate_up,gemm=default|fixed|class,tokens=...,seed=...
//   op/name=gdn_prefill,prefix=...,sequences=...,tokens=...,seed=...
// With two builds of the kernel module each of these twice, with `side=a|b` at its end, and beside them
//   against/of=op,name=...
#pragma once

#include <memory>
#include <vector>

#include "branchmark/bench/bench_run.hpp"
#include "branchmark/verify/case.hpp"

namespace branchmark {

// Throws usage for a scenario without a `bench` block.
std::vector<Case> op_cases(const std::shared_ptr<Session>& session, BenchOptions options);

}  // namespace branchmark
