// A session over a small model and a module, for tests of what measures.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "branchmark/bench/bench_cases.hpp"
#include "branchmark/scenario/load.hpp"
#include "branchmark/verify/run_case.hpp"

namespace branchmark::test {

// `bench`: the members of the scenario's bench block.
inline std::shared_ptr<Session> bench_session(const std::string& bench,
                                              const char* module = BRANCHMARK_CPU_MODULE) {
  const auto text = R"({"schema_version": "1.0", "name": "small",
    "model": {"preset": "qwen3.5-smoke", "layers": 4},
    "execution": {"graph": ["off", "on"], "gemm": ["fixed", "class"]},
    "bench": {)" + bench +
                    "}}";
  SessionOptions options;
  options.open_context = [module](const std::optional<ScenarioPath>& kernels, const auto&) {
    return Context::open(KernelLibrary::load(kernels ? kernels->resolved : module), 0);
  };
  return std::make_shared<Session>(parse_scenario(text, "small", "."), std::move(options));
}

// Enough samples for an interval, and any interval will do.
inline const std::string kQuick = R"("target_interval": 1, "min_samples": 6, "case_budget_s": 20)";

// The made-up telemetry of this mode, while it lives.
class MadeUpTelemetry {
 public:
  explicit MadeUpTelemetry(const char* mode) { ::setenv("BRANCHMARK_TEST_TELEMETRY", mode, 1); }
  ~MadeUpTelemetry() { ::unsetenv("BRANCHMARK_TEST_TELEMETRY"); }
  MadeUpTelemetry(const MadeUpTelemetry&) = delete;
  MadeUpTelemetry& operator=(const MadeUpTelemetry&) = delete;
};

inline double value(const CaseRecord& record, const std::string& metric) {
  const auto found = record.metrics.find(metric);
  EXPECT_NE(found, record.metrics.end()) << record.key() << " has no " << metric;
  return found == record.metrics.end() || found->second.samples.empty() ? 0 : found->second.samples.front();
}

}  // namespace branchmark::test
