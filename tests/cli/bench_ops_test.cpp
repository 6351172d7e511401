// `bench --ops` and `bench --against` as a person runs them.

#include <algorithm>

#include "cli/bench_command.hpp"

namespace branchmark {
namespace {

class BenchOps : public test::BenchCommand {
 protected:
  Json case_of(const std::string& key) const {
    for (const auto& one : cases())
      if (one.at("key") == key) return one;
    ADD_FAILURE() << "no case " << key;
    return {};
  }
};

TEST_F(BenchOps, TimesOpsWithTheirParity) {
  const auto ended = bench({"--ops", "--filter", "name=(conv|embed),|kind=copy"});
  test::expect_exit(ended, 0, {"6 passed"});
  EXPECT_NE(ended.err.find("Ops, the longest of each"), std::string::npos) << ended.err;
  const auto one = case_of("op/name=conv,prefix=0,sequences=1,tokens=384,seed=1");
  EXPECT_EQ(one.at("validity"), "valid");
  EXPECT_TRUE(one.at("metrics").at("device_ns").contains("interval"));
  EXPECT_FALSE(report().contains("kernels_against"));
}

TEST_F(BenchOps, AreListedAndCountedWithoutADevice) {
  const auto listed = run({"bench", "bench-smoke", "--ops", "--list", "--filter", "name=gemm"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 6 * 3 * 2) << listed.out;
  const auto dry = run({"bench", "bench-9b", "--ops", "--dry-run", "--against", "nowhere.so"});
  test::expect_exit(dry, 0, {"dry run"});
}

TEST_F(BenchOps, VariablesOfGoogleBenchmarkChangeNothing) {
  test::expect_exit(bench({"--ops", "--filter", "name=embed"},
                          {{"BENCHMARK_REPETITIONS", "3"}, {"BENCHMARK_FILTER", "nothing"}}),
                    0, {"2 passed"});
}

TEST_F(BenchOps, InjectedThrottlingIsInvalid) {
  test::expect_exit(bench({"--ops", "--filter", "name=embed", "--set", "bench.case_budget_s=0.3"},
                          {{"BRANCHMARK_TEST_TELEMETRY", "throttled"}}),
                    3, {"throttled", "2 invalid"});
}

TEST_F(BenchOps, AgainstTheSameBuildNothingIsChanged) {
  const auto ended =
      bench({"--ops", "--filter", "name=(conv|silu_mul),", "--against", BRANCHMARK_FAULTY_MODULE});
  test::expect_exit(ended, 0, {"15 passed"});
  EXPECT_NE(ended.err.find("Outputs: 5 of 5 cases have the same bits"), std::string::npos) << ended.err;
  const auto report = this->report();
  EXPECT_EQ(report.at("kernels_against").at("path"), BRANCHMARK_FAULTY_MODULE);
  EXPECT_NE(report.at("kernels_against").at("sha256"), report.at("kernels").at("sha256"));
}

TEST_F(BenchOps, AgainstAChangedRoundingNamesTheCases) {
  const auto ended =
      bench({"--ops", "--filter", "name=(conv|silu_mul),", "--against", BRANCHMARK_FAULTY_MODULE},
            {{"BRANCHMARK_TEST_FAULT", "other_silu_mul"}});
  test::expect_exit(ended, 1, {"against/of=op,name=silu_mul"});
  EXPECT_NE(ended.err.find("Outputs: 3 of 5 cases have the same bits"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("changed  op,name=silu_mul,tokens=384,seed=1"), std::string::npos) << ended.err;
  EXPECT_EQ(case_of("against/of=op,name=silu_mul,tokens=128,seed=1").at("outcome"), "fail");
}

TEST_F(BenchOps, AgainstASlowedOpTheRatioShowsIt) {
  const auto ended =
      bench({"--ops", "--filter", "name=silu_mul,tokens=384", "--against", BRANCHMARK_FAULTY_MODULE},
            {{"BRANCHMARK_TEST_FAULT", "slow_silu_mul=100"}});
  test::expect_exit(ended, 0, {"3 passed"});
  const auto one = case_of("against/of=op,name=silu_mul,tokens=384,seed=1");
  EXPECT_GT(one.at("metrics").at("device_ratio").at("median").get<double>(), 1.4);
}

TEST_F(BenchOps, AgainstWholePassesBothSidesAreReported) {
  const auto ended =
      bench({"--filter", "tokens=128,entry=forward_fixed", "--against", BRANCHMARK_FAULTY_MODULE});
  test::expect_exit(ended, 0, {"6 passed"});
  EXPECT_NE(ended.err.find("One pass: milliseconds"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("Outputs: 2 of 2 cases"), std::string::npos) << ended.err;
}

TEST_F(BenchOps, AgainstAModuleThatIsNoneEndsTheRun) {
  test::expect_exit(bench({"--filter", "kind=copy", "--against", "nowhere.so"}), 4, {"nowhere.so"});
}

}  // namespace
}  // namespace branchmark
