#include "branchmark/verify/gemm_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "module_under_test.hpp"

namespace branchmark {
namespace {

using test::carry_out;
using test::context_on;
using test::Fault;
using test::told;

const std::vector<ProjectionShape> kShapes = {{"down", 256, 1024}, {"gate_up", 1000, 136}};

std::vector<Case> cases_on(const char* module) {
  auto options = capped({}, 512);
  options.extra_rows = {77, 600};
  return gemm_rows_cases(context_on(module), kShapes, options);
}

std::string gemm_of(const Case& one) {
  return one.parameters.back().second.get<std::string>();
}

TEST(GemmRows, HoldsOnTheCpuModule) {
  for (const auto& one : cases_on(BRANCHMARK_CPU_MODULE)) {
    const auto record = carry_out(one);
    EXPECT_EQ(record.outcome, Outcome::pass) << told(record);
    EXPECT_EQ(record.witness.at("controls_caught").found, 3);
    EXPECT_GT(record.witness.at("rows_compared").found, 2000) << told(record);
    if (gemm_of(one) == "class") {
      EXPECT_GT(record.witness.at("members_checked").found, 1) << told(record);
    } else {
      EXPECT_TRUE(record.metrics.contains("default_rows_differing"));
      EXPECT_TRUE(record.metrics.contains("split_k_rows_differing"));
    }
  }
}

// The CPU module's default handle splits K by M on purpose.
TEST(GemmRows, ReportsWhereDefaultDiffers) {
  const auto record = carry_out(cases_on(BRANCHMARK_CPU_MODULE)[0]);
  EXPECT_GT(record.metrics.at("default_rows_differing").samples[0], 0);
  EXPECT_GT(record.metrics.at("split_k_rows_differing").samples[0], 0);
}

TEST(GemmRows, KeyNamesShapeAndHandle) {
  const auto cases = cases_on(BRANCHMARK_CPU_MODULE);
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[0].key(), "gemm_rows/projection=down,n=256,k=1024,gemm=fixed");
  EXPECT_EQ(cases[3].key(), "gemm_rows/projection=gate_up,n=1000,k=136,gemm=class");
}

TEST(GemmRows, RowsThatDependOnMAreCaught) {
  const Fault fault("m_dependent_gemm");
  for (const auto& one : cases_on(BRANCHMARK_FAULTY_MODULE)) {
    const auto record = carry_out(one);
    EXPECT_EQ(record.outcome, Outcome::fail) << told(record);
    ASSERT_FALSE(record.findings.empty());
    EXPECT_EQ(record.findings[0].id, "bits_differ");
    EXPECT_NE(record.findings[0].message.find("M=1 at row 0 of 600: 1 rows differ"), std::string::npos)
        << told(record);
    EXPECT_NE(record.findings[0].message.find("row 0, column 0: found 0x"), std::string::npos)
        << told(record);
  }
}

TEST(GemmRows, TheDefaultHandleInsideFixedIsCaught) {
  const Fault fault("default_inside_fixed");
  const auto record = carry_out(cases_on(BRANCHMARK_FAULTY_MODULE)[0]);
  EXPECT_EQ(record.outcome, Outcome::fail) << told(record);
}

TEST(GemmRows, AFalseMemberOfTheClassIsCaught) {
  const Fault fault("false_class");
  const auto record = carry_out(cases_on(BRANCHMARK_FAULTY_MODULE)[1]);
  EXPECT_EQ(record.outcome, Outcome::fail) << told(record);
  EXPECT_NE(told(record).find("class member "), std::string::npos) << told(record);
}

// K37
TEST(GemmRows, AnUnservedSizeNamesTheShape) {
  const Fault fault("unserved_m=65");
  const auto cases = cases_on(BRANCHMARK_FAULTY_MODULE);
  for (const auto& one : cases) {
    try {
      carry_out(one);
      ADD_FAILURE() << one.key() << " did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unserved_size);
      for (const char* part : {"N=", "K=", "M=65"})
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

TEST(GemmRows, ShapesOfAModel) {
  const auto shapes = projection_shapes(std::vector{preset("qwen3.5-4b")});
  ASSERT_EQ(shapes.size(), 6u - 1u);  // both mixers put 4,096 columns back to the hidden size
  EXPECT_EQ(shapes[0].projection, "gdn_input");
  EXPECT_EQ(shapes[0].n, 2 * 2048 + 4096 + 4096 + 64);
  EXPECT_EQ(shapes[0].k, 2560);
  EXPECT_EQ(shapes[1].k, 4096);
  const auto all = projection_shapes(presets());
  for (auto a = all.begin(); a != all.end(); ++a)
    EXPECT_TRUE(std::none_of(a + 1, all.end(), [&](const auto& b) { return a->n == b.n && a->k == b.k; }));
}

TEST(GemmRows, RowCountsOfTheLevels) {
  EXPECT_EQ(quick_gemm_rows().rows.size(), 6u);
  const auto options = capped({}, 512);
  EXPECT_EQ(options.rows.back(), 257);
  EXPECT_EQ(options.least_reference_rows, 512);
}

}  // namespace
}  // namespace branchmark
