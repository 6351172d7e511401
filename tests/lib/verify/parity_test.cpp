// The check `reference` and the command `parity`, over the mini fixture: bounds of its own, not the
// product's.

#include "branchmark/verify/parity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "branchmark/base/distance.hpp"
#include "branchmark/base/json.hpp"
#include "branchmark/scenario/load.hpp"
#include "branchmark/verify/run_case.hpp"
#include "lib/model/folder.hpp"
#include "lib/verify/module_under_test.hpp"

namespace branchmark {
namespace {

using test::kMini;
constexpr int kCases = 7;
constexpr int kLayers = 4;

// 1e-5 for numerics `reference`; for default ones 1.25 times the distance of the recorded bf16 run, and twice
// for the short prompts, which are ill-conditioned.
Json bounds(bool reference) {
  const auto expected = parse_json(read_file(kMini / "expected.json", 1 << 20), "expected.json");
  auto bound = Json::object();
  for (const auto& [name, recorded] : expected.at("cases").items())
    bound[name] = reference ? 1e-5
                            : recorded.at("hf_bf16_vs_fp32_relative_l2").get<double>() *
                                  (recorded.at("tokens").get<int>() < 16 ? 2 : 1.25);
  return bound;
}

Json scenario_of(const std::string& numerics) {
  return {{"schema_version", "1.0"},
          {"name", "mini"},
          {"model", {{"checkpoint", "."}, {"numerics", numerics}}},
          {"reference",
           {{"file", "expected.safetensors"}, {"max_relative_l2", bounds(numerics == "reference")}}}};
}

std::shared_ptr<Session> session_over(const Json& scenario, const char* module = BRANCHMARK_CPU_MODULE) {
  const auto open = [module](const std::optional<ScenarioPath>& kernels, const std::optional<std::string>&) {
    return Context::open(kernels ? KernelLibrary::load(kernels->resolved) : KernelLibrary::load(module), 0);
  };
  return std::make_shared<Session>(parse_scenario(scenario.dump(), "test", kMini, {}),
                                   SessionOptions{.level = Level::medium,
                                                  .command = "branchmark parity x",
                                                  .open_context = open,
                                                  .on_cpu = true,
                                                  .gemm = {}});
}

std::vector<CaseRecord> records_of(const std::vector<Case>& cases) {
  std::vector<CaseRecord> records;
  for (const auto& each : cases) records.push_back(run_case(each));
  return records;
}

struct EntryAndNumerics {
  std::string entry;
  std::string gemm;
  std::string numerics;
};

void PrintTo(const EntryAndNumerics& each, std::ostream* out) {
  *out << each.entry << ", gemm " << each.gemm << ", numerics " << each.numerics;
}

class MiniParity : public testing::TestWithParam<EntryAndNumerics> {};

TEST_P(MiniParity, EveryCaseIsWithinTheBoundsOfTheFixture) {
  auto scenario = scenario_of(GetParam().numerics);
  scenario["parity"] = {{"left", {{"entry", GetParam().entry}, {"gemm", GetParam().gemm}}}};
  const auto records = records_of(parity_cases(session_over(scenario)));
  ASSERT_EQ(records.size(), kCases);
  std::int64_t rows = 0;
  for (const auto& record : records) {
    EXPECT_EQ(record.outcome, Outcome::pass) << test::told(record);
    const auto& compared = record.witness.at("rows_compared");
    EXPECT_EQ(compared.found, compared.planned);
    rows += compared.found;
  }
  EXPECT_EQ(rows, 1 + 63 + 64 + 65 + 130 + 100 + 96);
}

// K25: distances are relative, and in ulps of bf16; per layer, and with their bound.
TEST_P(MiniParity, K25DistancesAreRelativeAndInUlps) {
  auto scenario = scenario_of(GetParam().numerics);
  scenario["parity"] = {{"left", {{"entry", GetParam().entry}, {"gemm", GetParam().gemm}}}};
  for (const auto& record : records_of(parity_cases(session_over(scenario)))) {
    std::vector<std::string> names;
    for (const auto& [name, metric] : record.metrics) names.push_back(name + " " + metric.unit);
    std::vector<std::string> expected = {"bound 1", "max_ulp_bf16 ulp", "relative_l2 1"};
    for (int i = 0; i < kLayers; ++i) expected.push_back(fmt::format("relative_l2_stream_{} 1", i));
    EXPECT_EQ(names, expected);
    EXPECT_EQ(record.metrics.at("relative_l2_stream_0").samples, std::vector<double>{0.0})
        << "an embedding row is stored in bf16: nothing rounds before the first layer";
    EXPECT_GT(record.metrics.at("relative_l2").samples[0], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Entries, MiniParity,
                         testing::Values(EntryAndNumerics{"forward", "default", "reference"},
                                         EntryAndNumerics{"forward_batch", "default", "reference"},
                                         EntryAndNumerics{"forward", "default", "default"},
                                         EntryAndNumerics{"forward_batch", "class", "default"},
                                         EntryAndNumerics{"forward_fixed", "fixed", "default"},
                                         EntryAndNumerics{"forward_fixed", "class", "default"},
                                         EntryAndNumerics{"forward_shared", "fixed", "default"},
                                         EntryAndNumerics{"forward_shared", "class", "default"}),
                         [](const auto& each) {
                           return each.param.entry + "_" + each.param.gemm + "_" + each.param.numerics;
                         });

TEST(Parity, TheCheckReferenceRunsForward) {
  const auto records = records_of(reference_cases(session_over(scenario_of("reference"))));
  ASSERT_EQ(records.size(), kCases);
  for (const auto& record : records) EXPECT_EQ(record.outcome, Outcome::pass) << test::told(record);
}

TEST(Parity, ABoundThatCannotBeMetFailsAndNamesTheFirstStreamBeyondIt) {
  auto scenario = scenario_of("default");
  scenario["reference"]["max_relative_l2"] = 1e-9;
  scenario["parity"] = {{"left", {{"entry", "forward_fixed"}, {"gemm", "fixed"}}}};
  for (const auto& record : records_of(parity_cases(session_over(scenario)))) {
    EXPECT_EQ(record.outcome, Outcome::fail);
    ASSERT_EQ(record.findings.size(), 1u);
    EXPECT_EQ(record.findings[0].id, "distance_exceeded");
    EXPECT_NE(record.findings[0].message.find("the first stream beyond it enters layer 1"), std::string::npos)
        << record.findings[0].message;
  }
}

TEST(Parity, AWrongNormIsBeyondTheBounds) {
  const test::Fault fault("norm_without_one");
  for (const auto& record :
       records_of(reference_cases(session_over(scenario_of("default"), BRANCHMARK_FAULTY_MODULE))))
    EXPECT_EQ(record.outcome, Outcome::fail) << test::told(record);
}

TEST(Parity, ReferenceNumericsAreNotAdmittedWhereStateIsShared) {
  auto scenario = scenario_of("reference");
  scenario["parity"] = {{"left", {{"entry", "forward_shared"}, {"gemm", "fixed"}}}};
  for (const auto& record : records_of(parity_cases(session_over(scenario)))) {
    EXPECT_EQ(record.outcome, Outcome::error);
    EXPECT_NE(test::told(record).find("numerics reference"), std::string::npos) << test::told(record);
  }
}

Json two_sides(Json left, Json right) {
  Json scenario = {
      {"schema_version", "1.0"},
      {"name", "two sides"},
      {"model", {{"checkpoint", "."}}},
      {"prompts",
       {{"request_prefix_tokens", {0, 70}},
        {"groupings", {{{"name", "a"}, {"groups", {{{"prefix_tokens", 0}, {"branch_tokens", {3, 65}}}}}}}}}}};
  scenario["parity"] = {{"left", std::move(left)}, {"right", std::move(right)}};
  return scenario;
}

TEST(Parity, SharedAndFixedAreEqualBitForBit) {
  const auto scenario = two_sides({{"entry", "forward_shared"}, {"gemm", "class"}, {"packing", "per_branch"}},
                                  {{"entry", "forward_fixed"}, {"gemm", "fixed"}});
  const auto records = records_of(parity_cases(session_over(scenario)));
  ASSERT_EQ(records.size(), 2u);
  for (const auto& record : records) {
    EXPECT_EQ(record.outcome, Outcome::pass) << test::told(record);
    EXPECT_EQ(record.metrics.at("relative_l2").samples[0], 0.0);
    EXPECT_EQ(record.metrics.at("max_ulp_bf16").samples[0], 0.0);
  }
}

TEST(Parity, TwoModulesAreComparedAndTheirFirstDivergenceNamed) {
  const auto scenario =
      two_sides({{"entry", "forward_fixed"}, {"gemm", "fixed"}, {"kernels", BRANCHMARK_FAULTY_MODULE}},
                {{"entry", "forward_fixed"}, {"gemm", "fixed"}});
  for (const auto& record : records_of(parity_cases(session_over(scenario))))
    EXPECT_EQ(record.outcome, Outcome::pass) << test::told(record);
  const test::Fault fault("norm_without_one");
  for (const auto& record : records_of(parity_cases(session_over(scenario)))) {
    EXPECT_EQ(record.outcome, Outcome::fail);
    ASSERT_FALSE(record.findings.empty());
    EXPECT_EQ(record.findings[0].id, "bits_differ");
    // The norm's own output is not watched; the first op that reads it is.
    EXPECT_NE(record.findings[0].message.find("layer 0, op mixer_input, row 0, column 0"), std::string::npos)
        << record.findings[0].message;
  }
}

TEST(Parity, OneStateFaultIsSeenOnlyWhereStateIsCarried) {
  const auto scenario =
      two_sides({{"entry", "forward_shared"}, {"gemm", "fixed"}, {"kernels", BRANCHMARK_FAULTY_MODULE}},
                {{"entry", "forward_fixed"}, {"gemm", "fixed"}});
  const test::Fault fault("zero_gdn_state");
  const auto records = records_of(parity_cases(session_over(scenario)));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].outcome, Outcome::pass) << "prefix 0 carries none";
  EXPECT_EQ(records[1].outcome, Outcome::fail);
  // Here the residual stream after layer 0 rounds the difference away; its op is the first all the same.
  EXPECT_NE(test::told(records[1]).find("first at layer 0, op gdn_prefill, row 64,"), std::string::npos)
      << test::told(records[1]);
}

TEST(Distance, IsRelativeToTheRightSide) {
  const std::vector<float> right = {3, 4}, left = {3, 4.5f}, zero = {0, 0};
  EXPECT_DOUBLE_EQ(relative_l2(left, right), 0.1);
  EXPECT_EQ(relative_l2(right, right), 0);
  EXPECT_EQ(relative_l2(zero, zero), 0);
  EXPECT_EQ(relative_l2(right, zero), std::numeric_limits<double>::infinity());
  const std::vector<float> nan = {std::numeric_limits<float>::quiet_NaN(), 4};
  EXPECT_TRUE(std::isnan(relative_l2(nan, right)));
  EXPECT_TRUE(std::isnan(relative_l2(right, nan)));
}

TEST(Distance, CountsBf16Values) {
  const std::vector<float> one = {1.0f, -1.0f}, next = {1.0078125f, -1.0f}, across = {1.0f, 1.0f};
  EXPECT_EQ(max_ulp_bf16(one, one), 0);
  EXPECT_EQ(max_ulp_bf16(next, one), 1);
  EXPECT_EQ(max_ulp_bf16(across, one), 2 * 0x3f80);
  const std::vector<float> nan = {std::numeric_limits<float>::quiet_NaN(), -1.0f};
  EXPECT_EQ(max_ulp_bf16(nan, nan), 0);
  EXPECT_GT(max_ulp_bf16(nan, one), 1 << 20);
}

}  // namespace
}  // namespace branchmark
