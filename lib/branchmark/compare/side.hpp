// One side of a comparison: a report, or several of the same thing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "branchmark/compare/comparison.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark {

struct NamedReport {
  std::string file;
  Report report;
};

// A case as a side has it: a record from each report that holds it.
struct SideCase {
  std::string check;
  Parameters parameters;
  std::vector<const CaseRecord*> records;
};

// Move-only: cases point into the reports.
class Side {
 public:
  // Throws usage for no report, a run that is there twice (it would pass for two that agree) and a report
  // with two cases of one key.
  explicit Side(std::vector<NamedReport> reports);
  Side(Side&&) = default;
  Side& operator=(Side&&) = default;

  const std::vector<NamedReport>& reports() const noexcept { return reports_; }
  const std::map<std::string, SideCase>& cases() const noexcept { return cases_; }
  std::vector<ComparedRun> runs() const;

  // Forgets the cases whose key holds no match of this ECMAScript expression. Throws usage where it is none.
  void keep_only(const std::string& pattern);

 private:
  std::vector<NamedReport> reports_;
  std::map<std::string, SideCase> cases_;
};

}  // namespace branchmark
