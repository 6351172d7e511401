#include "branchmark/bench/ops/google_benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "branchmark/base/error.hpp"

namespace branchmark::ops {
namespace {

constexpr std::string_view kCalibrating = "calibrating ";
constexpr int kCalibrations = 5;

}  // namespace

RepetitionReporter::RepetitionReporter() {
  SetOutputStream(&nowhere_);
  SetErrorStream(&nowhere_);
}

void RepetitionReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const auto& run : runs) {
    if (run.run_type != Run::RT_Iteration) continue;
    auto& repetition = repetitions_.emplace_back();
    repetition.name = run.benchmark_name();
    repetition.num_launches = run.iterations;
    // With manual time, "real" is what the body measured.
    if (run.iterations > 0)
      repetition.manual_ns = run.real_accumulated_time * 1e9 / static_cast<double>(run.iterations);
    for (const auto& [name, counter] : run.counters) repetition.counters[name] = counter.value;
  }
}

BenchmarkRegistry::BenchmarkRegistry() {
  benchmark::ClearRegisteredBenchmarks();
}

BenchmarkRegistry::~BenchmarkRegistry() {
  benchmark::ClearRegisteredBenchmarks();
}

// Repetitions are named here and below, or an environment variable of Google Benchmark's would say how many.
std::int64_t BenchmarkRegistry::calibrate(const std::string& key, double min_ns, std::int64_t max_launches,
                                          const Body& body) {
  const auto name = std::string(kCalibrating) + key;
  benchmark::RegisterBenchmark(name.c_str(), body)->UseManualTime()->MinTime(min_ns * 1e-9)->Repetitions(1);
  std::int64_t most = 0;
  for (int i = 0; i < kCalibrations; ++i) {
    const auto launches = run_one(filter_for(name)).num_launches;
    if (launches == 0) return 0;
    most = std::max(most, launches);
  }
  return std::min(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(most))), max_launches);
}

void BenchmarkRegistry::add(const std::string& key, std::int64_t launches, const Body& body) {
  benchmark::RegisterBenchmark(key.c_str(), body)->UseManualTime()->Iterations(launches)->Repetitions(1);
}

Repetition BenchmarkRegistry::run(const std::string& key) {
  return run_one(filter_for(key));
}

Repetition BenchmarkRegistry::run_one(const std::string& filter) {
  RepetitionReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, filter);
  if (reporter.repetitions().size() != 1)
    throw Error(ErrorCode::internal, fmt::format("Google Benchmark reported {} repetitions of {}, expected 1",
                                                 reporter.repetitions().size(), filter));
  return reporter.repetitions().front();
}

std::string filter_for(const std::string& name) {
  std::string filter = "^";
  for (const char c : name) {
    if (std::string_view(".[(){*+?^$|\\").find(c) != std::string_view::npos) filter += '\\';
    filter += c;
  }
  // Google Benchmark appends its own settings: "/iterations:12/repeats:1/manual_time".
  return filter + "/(min_time|iterations):";
}

}  // namespace branchmark::ops
