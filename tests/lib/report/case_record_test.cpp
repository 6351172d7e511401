#include "branchmark/report/case_record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "branchmark/base/error.hpp"
#include "fixture.hpp"

namespace branchmark {
namespace {

CaseRecord read_back(const CaseRecord& record) {
  return case_record_from_json(parse_json(json_text(to_json(record)), "case"));
}

TEST(CaseRecord, KeyNamesParametersInOrder) {
  EXPECT_EQ(passing_case().key(), "shared_equals_fixed/prefix=70,gemm=class,graph=off");
  EXPECT_EQ(skipped_case().key(), "graph_equals_eager");
  EXPECT_EQ(case_key("c", {{"name", "a b,c=d%\n"}, {"list", {1, 2.5}}, {"flag", true}}),
            "c/name=a%20b%2cc%3dd%25%0a,list=[1,2.5],flag=true");
}

TEST(CaseRecord, ReadsBackTheSame) {
  CaseRecord odd = failing_case();
  odd.parameters = {{"z", "a b,c=d"}, {"a", {1, 2.5}}, {"m", 0.5}, {"b", -3}};
  odd.invalid_reasons = {"throttled"};
  odd.add_metric("time_ns", "ns", Better::lower, 0.1);
  odd.metrics["time_ns"].samples = {3, 1, 2, 1e300};
  for (const CaseRecord& record : {passing_case(), failing_case(), skipped_case(), odd}) {
    EXPECT_EQ(to_json(read_back(record)), to_json(record));
    EXPECT_EQ(read_back(record).key(), record.key());
    EXPECT_EQ(read_back(record).parameters, record.parameters);
  }
}

TEST(CaseRecord, MetricsCarryTheirStatistics) {
  CaseRecord record = passing_case();
  EXPECT_EQ(
      to_json(record)["metrics"]["relative_l2"],
      parse_json(R"({"unit": "1", "better": "lower", "n": 1, "median": 0.0, "samples": [0.0]})", "metric"));
  record.metrics["relative_l2"].samples = {4, 1, 3, 2};
  const Json metric = to_json(record)["metrics"]["relative_l2"];
  EXPECT_EQ(metric["n"], 4);
  EXPECT_EQ(metric["median"], 2.5);
  EXPECT_EQ(metric["p90"], 3.7);
  EXPECT_EQ(metric["samples"], Json({4.0, 1.0, 3.0, 2.0}));
}

// K42: what is not finite is null with a reason, and the text stays strict JSON.
TEST(CaseRecord, K42NotFiniteIsNullWithAReason) {
  CaseRecord record = passing_case();
  record.metrics["relative_l2"].samples = {1, NAN, std::numeric_limits<double>::infinity()};
  record.metrics["empty"] = {"1", Better::none, {}};
  record.duration_ns = NAN;
  record.findings = {{"odd", Severity::note, "\xff\x01", ""}};
  const Json json = parse_json(json_text(to_json(record)), "case");
  EXPECT_TRUE(json["metrics"]["relative_l2"]["median"].is_null());
  EXPECT_EQ(json["metrics"]["relative_l2"]["null_reasons"]["median"], "2 of 3 samples are not finite");
  EXPECT_EQ(json["metrics"]["empty"]["null_reasons"]["median"], "no samples");
  EXPECT_EQ(json["null_reasons"]["duration_ns"], "not finite");
  EXPECT_EQ(json_text(to_json(read_back(record))), json_text(json));
}

TEST(CaseRecord, IgnoresUnknownKeysAndRefusesContradictions) {
  Json json = to_json(passing_case());
  json["added_later"] = 1;
  EXPECT_NO_THROW(case_record_from_json(json));
  json["params"]["prefix"] = 71;
  EXPECT_THROW(case_record_from_json(json), Error);
}

}  // namespace
}  // namespace branchmark
