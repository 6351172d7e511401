// Two builds of the kernel module on one case: are the outputs the same bits, and what is the ratio of the
// times? The samples of both were taken in turns (rounds.hpp), so the ratio is taken pair by pair: what both
// met alike falls out of it, and the interval of its median is narrower than those of the times would allow.
#pragma once

#include <string>
#include <vector>

#include "branchmark/bench/rounds.hpp"
#include "branchmark/report/case_record.hpp"

namespace branchmark {

// What one side of a case has found.
struct SideResult {
  const Series* series = nullptr;
  std::vector<std::string> digests;
  std::vector<std::string> invalid_reasons;
};

// Fails the case where outputs differ. Metrics: wall_ratio and device_ratio, the time of side b over that of
// side a, a sample for each pair in which neither was tagged; above 1, b is slower. Invalid where a side is.
void record_against(CaseRecord& record, const SideResult& a, const SideResult& b, bool is_cpu);

}  // namespace branchmark
