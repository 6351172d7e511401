// Made-up samples and reports for the tests of compare/.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "branchmark/base/digest.hpp"
#include "branchmark/base/random.hpp"
#include "branchmark/compare/side.hpp"

namespace branchmark::test {

// What a timer might give: one-sided noise, now and then a sample that something else disturbed, and a shift
// of the whole run.
struct Noise {
  double within_runs = 0.01;
  double between_runs = 0;
  double outliers = 0.02;  // their share; they take a third longer
};

inline std::vector<double> simulated_run(Random& random, std::size_t n, double median_ns, Noise noise) {
  const double of_run = std::exp(noise.between_runs * static_cast<double>(random.normal()));
  std::vector<double> samples;
  for (std::size_t i = 0; i < n; ++i) {
    double sample = median_ns * of_run * std::exp(noise.within_runs * static_cast<double>(random.normal()));
    if (static_cast<double>(random.uniform()) < noise.outliers) sample *= 4.0 / 3;
    samples.push_back(sample);
  }
  return samples;
}

inline std::vector<std::vector<double>> simulated_runs(Random& random, std::size_t runs, std::size_t n,
                                                       double median_ns, Noise noise) {
  std::vector<std::vector<double>> made;
  for (std::size_t run = 0; run < runs; ++run) made.push_back(simulated_run(random, n, median_ns, noise));
  return made;
}

inline CaseRecord timed_case(std::int64_t tokens, std::vector<double> samples, std::string digest = "d") {
  CaseRecord record;
  record.check = "single";
  record.parameters = {{"tokens", tokens}, {"gemm", "class"}};
  record.outcome = Outcome::pass;
  record.metrics["device_ns"] = {.unit = "ns", .better = Better::lower, .samples = std::move(samples)};
  record.add_metric("op_launches", "1", Better::lower, 150);
  record.witness["allocations"] = {0, 0};
  record.witness["prompts_compared"] = {2, 2};
  record.digests = {digest + "0", digest + "1"};
  return record;
}

inline Report bench_report(std::string run_id, std::vector<CaseRecord> cases) {
  Report report;
  report.run_id = std::move(run_id);
  report.command = "bench";
  report.complete = true;
  report.exit = make_exit(kExitOk, "passed");
  report.started_at = "2026-01-31T12:00:00.000Z";
  report.tool = {"0.1.0", std::string(40, 'a'), false, "gcc 12.2.0", "Release"};
  report.kernels = KernelsInfo{"libbranchmark-kernels-cuda.so", 1, "nvcc 13.0.88, Release, revision aaaa",
                               std::string(64, 'e')};
  report.argv = {"branchmark", "bench", "bench-9b", "--report", "r.json"};
  report.device.emplace();
  report.device->name = "NVIDIA H200";
  report.device->driver = "580.1";
  report.device->power_limit_w = 700;
  report.model = ModelInfo{"qwen3.5-9b", "preset", {{"hidden", 4096}}, std::string(64, 'b'), "default"};
  const std::string expanded = R"({"bench": {"min_samples": 10, "single_tokens": [64]}, "name": "bench-9b"})";
  report.scenario = ScenarioInfo{"bench-9b", sha256_hex(expanded), expanded};
  report.cases = std::move(cases);
  return report;
}

inline Side side_of(Report report, std::string file = "r.json") {
  std::vector<NamedReport> reports;
  reports.push_back({std::move(file), std::move(report)});
  return Side(std::move(reports));
}

}  // namespace branchmark::test
