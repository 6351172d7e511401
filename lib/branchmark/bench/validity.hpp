// Whether a measured number may be used. The reasons against it are a closed list.
#pragma once

#include <span>
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

// Sets the outcome and the reasons, and adds a finding on each that says what to do.
void judge(CaseRecord& record, const Measured& measured, const Scenario& scenario);

}  // namespace branchmark
