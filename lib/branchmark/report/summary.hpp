// What the renderings for people have in common: counts by check and findings by kind.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "branchmark/report/report.hpp"

namespace branchmark {

struct CheckCounts {
  std::string check;
  std::array<std::int64_t, 8> by_outcome = {};  // indexed by Outcome; a pass counts as such only where valid
  std::int64_t invalid = 0;
  double duration_ns = 0;

  std::int64_t of(Outcome outcome) const { return by_outcome[static_cast<std::size_t>(outcome)]; }
  // Nothing failed, was in doubt or stayed away without leave.
  bool clean() const;
  // "40 passed, 2 failed, 8 skipped".
  std::string text() const;
};

// In the order in which the checks first appear.
std::vector<CheckCounts> count_by_check(const Report& report);

struct FindingGroup {
  Finding first;
  std::string first_case;
  std::int64_t count = 0;
};

// Findings of one severity and id, errors first, then in order of appearance.
std::vector<FindingGroup> group_findings(const Report& report);

// "smoke", or the command where there is no scenario.
std::string title_of(const Report& report);
// "NVIDIA H200 (sm_90)", or that none was opened.
std::string device_text(const Report& report);

}  // namespace branchmark
