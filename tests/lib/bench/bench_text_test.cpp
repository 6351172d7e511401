#include "branchmark/bench/bench_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace branchmark {
namespace {

CaseRecord record_of(std::string check, Parameters parameters, double ms) {
  CaseRecord record;
  record.check = std::move(check);
  record.parameters = std::move(parameters);
  record.outcome = Outcome::pass;
  record.metrics["device_ns"] = {.unit = "ns", .better = Better::lower, .samples = std::vector(10, ms * 1e6)};
  record.metrics["wall_ns"] = record.metrics["device_ns"];
  return record;
}

CaseRecord single(std::int64_t tokens, const std::string& gemm, double ms, const std::string& graph = "off") {
  return record_of("single", {{"tokens", tokens}, {"gemm", gemm}, {"graph", graph}}, ms);
}

CaseRecord shared(std::int64_t branches, const std::string& way, double ms) {
  return record_of("shared",
                   {{"prefix", std::int64_t{3093}},
                    {"branches", branches},
                    {"branch_tokens", std::int64_t{38}},
                    {"way", way}},
                   ms);
}

Report timed_report() {
  Report report;
  report.cases = {single(64, "default", 4.0), single(64, "default", 3.5, "on"), single(64, "fixed", 5.0),
                  single(64, "class", 4.1)};
  report.cases[2].add_metric("fixed_over_default_device_ratio", "1", Better::lower, 1.25);
  report.cases[3].add_metric("class_over_default_device_ratio", "1", Better::lower, 1.025);
  report.cases[3].add_metric("product_ceiling_share", "1", Better::higher, 0.62);
  report.cases[3].add_metric("copy_ceiling_share", "1", Better::higher, 0.91);
  auto packed = shared(8, "packed", 80);
  packed.add_metric("packed_over_alone_wall_ratio", "1", Better::lower, 0.125);
  packed.add_metric("packed_over_per_branch_wall_ratio", "1", Better::lower, 0.8);
  packed.add_metric("saved_tokens", "tokens", Better::higher, 80);
  packed.add_metric("asked_tokens", "tokens", Better::none, 100);
  report.cases.push_back(packed);
  report.cases.push_back(shared(8, "per_branch", 100));
  report.cases.push_back(shared(8, "alone_forward", 640));
  return report;
}

TEST(BenchText, HasTablesAndSentences) {
  const auto text = bench_text(timed_report());
  for (const auto* part :
       {"4.000 ±0.0%", "3.500 ±0.0%", "1.25", "1.02", "8 x 38", "80.00 ±0.0%", "640.0 ±0.0%", "8.00", "80%",
        "8.0 times as fast as every prompt alone", "1.25 times as fast as one pass a branch",
        "class takes 1.02 to 1.02", "62% of the product", "91% of the copy"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST(BenchText, MarksWhatIsInvalidAndWhatIsMissing) {
  auto report = timed_report();
  report.cases[0].invalid_reasons = {"throttled"};
  report.cases.erase(report.cases.begin() + 1);
  const auto text = bench_text(report);
  EXPECT_NE(text.find("4.000 ±0.0%!"), std::string::npos) << text;
  EXPECT_NE(text.find(" - "), std::string::npos) << text;
}

TEST(BenchText, SaysNothingWithoutTimedCases) {
  EXPECT_EQ(bench_text(Report{}), "");
  Report failed;
  failed.cases.push_back(single(64, "default", 1));
  failed.cases.back().metrics.clear();
  EXPECT_NO_THROW(bench_text(failed));
}

// The full grid fits a screen.
TEST(BenchText, FitsAScreen) {
  Report report;
  for (const std::int64_t tokens : {38, 64, 256, 1024, 3072, 8192})
    report.cases.push_back(single(tokens, "class", 1));
  for (std::int64_t branches = 1; branches <= 18; ++branches)
    report.cases.push_back(shared(branches, "packed", 1));
  const auto text = bench_text(report);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
}

}  // namespace
}  // namespace branchmark
