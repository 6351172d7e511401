// Two builds of the kernel module side by side: the CPU module, and the same with a fault.

#include "branchmark/bench/against.hpp"

#include <gtest/gtest.h>

#include <map>

#include "branchmark/base/error.hpp"
#include "branchmark/base/statistics.hpp"
#include "branchmark/bench/against_text.hpp"
#include "branchmark/bench/ops/op_cases.hpp"
#include "branchmark/report/one_side.hpp"
#include "lib/bench/bench_session.hpp"
#include "lib/verify/module_under_test.hpp"

namespace branchmark {
namespace {

const std::string kSmall = R"("single_tokens": [70], )" + test::kQuick;

using Records = std::map<std::string, CaseRecord>;
using MakeCases = std::vector<Case> (*)(const std::shared_ptr<Session>&, BenchOptions);

Records run_both(MakeCases make, const std::string& part, const std::string& bench = kSmall) {
  Records records;
  for (const auto& one : make(test::bench_session(bench), {.against = BRANCHMARK_FAULTY_MODULE}))
    if (one.key().find(part) != std::string::npos) records[one.key()] = run_case(one);
  return records;
}

Series series_of(const std::vector<double>& times) {
  Series series;
  for (const double time : times) {
    Sample sample;
    sample.deciding_ns = sample.other_ns = time;
    series.samples.push_back(sample);
  }
  return series;
}

TEST(Against, RatiosAreTakenPairByPair) {
  auto a = series_of({10, 20, 40, 80});
  const auto b = series_of({11, 22, 44, 88});
  a.samples[2].tag = "thermal_slowdown";
  CaseRecord record;
  record_against(record, {&a, {"x"}, {}}, {&b, {"x"}, {}}, false);
  EXPECT_EQ(record.outcome, Outcome::pass);
  const auto& ratio = record.metrics.at("device_ratio");
  ASSERT_EQ(ratio.samples.size(), 3u) << "a pair with a tagged sample is none";
  for (const double each : ratio.samples) EXPECT_NEAR(each, 1.1, 1e-12);
}

TEST(Against, ChangedOutputsFailAndAreCounted) {
  const auto a = series_of({10});
  CaseRecord record;
  record_against(record, {&a, {"x", "y", "z"}, {}}, {&a, {"x", "n", "z"}, {}}, true);
  EXPECT_EQ(record.outcome, Outcome::fail);
  ASSERT_FALSE(record.findings.empty());
  EXPECT_EQ(record.findings.front().id, "outputs_changed");
  EXPECT_NE(record.findings.front().message.find("1 of 3 outputs"), std::string::npos);
}

TEST(Against, AMissingOutputFails) {
  const auto a = series_of({10});
  CaseRecord record;
  record_against(record, {&a, {"x", "y"}, {}}, {&a, {"x"}, {}}, true);
  EXPECT_EQ(record.outcome, Outcome::fail);
}

TEST(Against, AnInvalidSideMakesItInvalid) {
  const auto a = series_of({10});
  CaseRecord record;
  record_against(record, {&a, {"x"}, {}}, {&a, {"x"}, {"throttled"}}, true);
  EXPECT_EQ(record.outcome, Outcome::pass);
  EXPECT_EQ(record.invalid_reasons, std::vector<std::string>{"throttled"});
}

TEST(Against, ModelCasesStandOnBothSidesWithTheSameBits) {
  const auto records = run_both(bench_cases, "gemm=class");
  ASSERT_EQ(records.size(), 3u);
  const std::string key = "tokens=70,entry=forward_fixed,gemm=class,graph=off,seed=1";
  const auto& a = records.at("single/" + key + ",side=a");
  const auto& b = records.at("single/" + key + ",side=b");
  const auto& both = records.at("against/of=single," + key);
  for (const auto* record : {&a, &b, &both}) EXPECT_EQ(record->outcome, Outcome::pass) << test::told(*record);
  EXPECT_EQ(a.digests, b.digests);
  EXPECT_EQ(a.metrics.at("wall_ns").samples.size(), b.metrics.at("wall_ns").samples.size());
  EXPECT_EQ(both.metrics.at("wall_ratio").samples.size(), a.metrics.at("wall_ns").samples.size());
  EXPECT_EQ(both.witness.at("outputs_compared").found, 1);
}

TEST(Against, AModelOfOtherBitsIsNamed) {
  const test::Fault fault("other_silu_mul");
  const auto records = run_both(bench_cases, "gemm=fixed");
  const std::string key = "tokens=70,entry=forward_fixed,gemm=fixed,graph=off,seed=1";
  EXPECT_EQ(records.at("single/" + key + ",side=b").outcome, Outcome::pass)
      << "side b agrees with its own forward_fixed";
  EXPECT_EQ(records.at("against/of=single," + key).outcome, Outcome::fail);
}

TEST(Against, AnOpOfOtherBitsIsNamedAndNoOther) {
  const test::Fault fault("other_silu_mul");
  for (const auto& [key, record] : run_both(op_cases, "against/"))
    EXPECT_EQ(record.outcome, key.find("silu_mul") == std::string::npos ? Outcome::pass : Outcome::fail)
        << test::told(record);
}

TEST(Against, ASlowedOpHasARatioAboveOne) {
  const test::Fault fault("slow_silu_mul=100");
  const auto records = run_both(op_cases, "silu_mul", R"("single_tokens": [512], )" + test::kQuick);
  const auto& ratio = records.at("against/of=op,name=silu_mul,tokens=512,seed=1").metrics.at("device_ratio");
  EXPECT_GT(median(ratio.samples), 1.4);
  EXPECT_EQ(test::value(records.at("op/name=silu_mul,tokens=512,seed=1,side=a"), "launches_per_sample"),
            test::value(records.at("op/name=silu_mul,tokens=512,seed=1,side=b"), "launches_per_sample"));
}

TEST(Against, ASecondModelMustFitBesideTheFirst) {
  const test::Fault fault("full_device");
  const auto records = run_both(bench_cases, "gemm=class");
  ASSERT_FALSE(records.empty());
  for (const auto& [key, record] : records) {
    EXPECT_EQ(record.outcome, Outcome::not_eligible) << test::told(record);
    ASSERT_FALSE(record.findings.empty());
    EXPECT_NE(record.findings.front().message.find("1000 bytes of device memory are free"), std::string::npos)
        << test::told(record);
  }
  for (const auto& [key, record] : run_both(op_cases, "against/of=op,name=embed"))
    EXPECT_EQ(record.outcome, Outcome::pass) << "ops need no model: " << test::told(record);
}

TEST(Against, AnotherDeviceIsRefused) {
  for (const auto& one :
       op_cases(test::bench_session(kSmall), {.against = BRANCHMARK_ACCELERATOR_MODULE, .progress = {}}))
    if (one.key().find("against/of=op,name=embed") != std::string::npos) {
      EXPECT_EQ(run_case(one).outcome, Outcome::not_eligible);
    }
}

TEST(Against, TheTextCountsOutputsAndNamesTheFurthest) {
  Report report;
  report.kernels = {.path = "old.so", .abi_version = 1, .build_id = "g++ 12", .sha256 = ""};
  report.kernels_against = {.path = "new.so", .abi_version = 1, .build_id = "g++ 13", .sha256 = ""};
  for (const auto& [tokens, ratio] : {std::pair{64, 1.0}, {128, 1.5}}) {
    auto& record = report.cases.emplace_back();
    record.check = "against";
    record.parameters = {{"of", "op"}, {"tokens", tokens}};
    record.witness["outputs_compared"] = {1, 1};
    record.metrics["device_ratio"] = {.unit = "1", .samples = std::vector<double>(6, ratio)};
    if (tokens == 64) record.findings.push_back({"outputs_changed", Severity::error, "", ""});
  }
  const auto text = against_text(report);
  EXPECT_NE(text.find("Side a is old.so (g++ 12), side b new.so (g++ 13)."), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 cases have the same bits"), std::string::npos) << text;
  EXPECT_NE(text.find("changed  op,tokens=64"), std::string::npos) << text;
  EXPECT_NE(text.find("In 1 of them"), std::string::npos) << text;
  EXPECT_NE(text.find("1.500 [1.500, 1.500]  op,tokens=128"), std::string::npos) << text;
}

TEST(Against, OneSideReadsAsAReportOfThatBuildAlone) {
  Report report;
  report.kernels.emplace().build_id = "old";
  report.kernels_against.emplace().build_id = "new";
  for (const auto* side : {"a", "b"}) {
    auto& record = report.cases.emplace_back();
    record.check = "op";
    record.parameters = {{"name", "conv"}, {"side", side}};
  }
  report.cases.emplace_back().check = "against";
  const auto b = one_side(report, "b");
  ASSERT_EQ(b.cases.size(), 1u);
  EXPECT_EQ(b.cases[0].key(), "op/name=conv");
  EXPECT_EQ(b.kernels->build_id, "new");
  EXPECT_FALSE(b.kernels_against);
  EXPECT_EQ(one_side(report, "a").kernels->build_id, "old");
}

}  // namespace
}  // namespace branchmark
