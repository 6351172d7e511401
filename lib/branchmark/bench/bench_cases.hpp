// The cases of `bench`: what measurement.md lists, as the scenario's `bench` block sizes it.
//
//   ceiling/kind=product|copy
//   single/tokens=...,entry=forward,gemm=default,graph=off|on,seed=...
//   single/tokens=...,entry=forward_fixed,gemm=fixed|class,graph=off,seed=...
//   shared/prefix=...,branches=...,branch_tokens=...,way=packed|per_branch|alone_forward|alone_fixed,gemm=...,
//          seed=...
// With two builds of the kernel module each of these twice, with `side=a|b` at its end, and beside them
//   against/of=single|shared,... (the case's own parameters)
#pragma once

#include <memory>
#include <vector>

#include "branchmark/bench/bench_run.hpp"
#include "branchmark/verify/case.hpp"

namespace branchmark {

// Throws usage for a scenario without a `bench` block, or with prompts longer than its model takes.
void require_bench(const Session& session);
std::vector<Case> bench_cases(const std::shared_ptr<Session>& session, BenchOptions options);

}  // namespace branchmark
