// Whether a measured number may be used. The reasons against it are a closed list.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "branchmark/bench/measured.hpp"
#include "branchmark/report/case_record.hpp"

namespace branchmark {

// What makes a case invalid, and a line on each.
struct InvalidReason {
  std::string_view name;
  std::string_view meaning;
};
std::span<const InvalidReason> invalid_reasons();

// What speaks against outputs: a finding and the reason parity_failed. To be called before judge_samples.
void add_parity_failure(CaseRecord& record, std::string message);

// Sets the outcome, by the witness and the findings so far, and adds what speaks against the samples, with a
// finding on each reason that says what to do.
void judge_samples(CaseRecord& record, const Series& series, const BenchDevice& device,
                   const ScenarioBench& bench);

// The whole of it for a workload: parity, samples, breakdown.
void judge(CaseRecord& record, const Measured& measured, const Scenario& scenario);

}  // namespace branchmark
