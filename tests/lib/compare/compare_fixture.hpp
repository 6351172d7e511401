// What the tests that hold whole reports against each other share: a small report, its comparison, and a look
// at it.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "branchmark/compare/compare.hpp"
#include "lib/compare/simulated.hpp"

namespace branchmark::test {

class Compare : public testing::Test {
 protected:
  std::vector<double> samples(double median_ns = 1e6, double noise = 0.003) {
    return simulated_run(random_, 20, median_ns, {.within_runs = noise, .outliers = 0});
  }
  // Cases of 1, 2 and 4 tokens; `slow` is the factor of the second.
  Report report(const std::string& run_id, double slow = 1) {
    return bench_report(
        run_id, {timed_case(1, samples()), timed_case(2, samples(slow * 1e6)), timed_case(4, samples(2e6))});
  }
  static Comparison of(Report a, Report b, const CompareOptions& options = {}) {
    return compare(side_of(std::move(a), "a.json"), side_of(std::move(b), "b.json"), options);
  }
  static const CaseComparison& row(const Comparison& comparison, const std::string& part) {
    for (const auto& each : comparison.cases)
      if (each.key.find(part) != std::string::npos) return each;
    throw std::runtime_error("no row " + part);
  }
  static std::vector<std::string> warnings(const Comparison& comparison) {
    std::vector<std::string> names;
    for (const auto& difference : comparison.differences) names.push_back(difference.what);
    return names;
  }

  Random random_{3, "compare"};
};

}  // namespace branchmark::test
