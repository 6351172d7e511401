#include "branchmark/verify/operators.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "module_under_test.hpp"

namespace branchmark {
namespace {

using test::carry_out;
using test::context_on;
using test::Fault;
using test::told;

// Cases of one op (all for an empty name) that fail, with their findings' ids and messages.
struct Failures {
  int cases = 0;
  std::set<std::string> ids;
  std::string messages;
  std::set<std::string> facts;
};

Failures failures_of(const ContextSource& context, const std::set<std::string>& ops) {
  Failures failures;
  for (const auto& one : operator_cases(context)) {
    if (!ops.contains(one.parameters[0].second.get<std::string>())) continue;
    const auto record = carry_out(one);
    if (record.outcome != Outcome::fail) continue;
    ++failures.cases;
    failures.facts.insert(one.parameters[1].second.get<std::string>());
    for (const auto& finding : record.findings) {
      failures.ids.insert(finding.id);
      failures.messages += finding.message + "\n";
    }
  }
  return failures;
}

TEST(Operators, EveryCaseHoldsOnTheCpuModule) {
  const auto context = context_on(BRANCHMARK_CPU_MODULE);
  for (const auto& one : operator_cases(context)) {
    const auto record = carry_out(one);
    EXPECT_EQ(record.outcome, Outcome::pass) << told(record);
    EXPECT_TRUE(record.findings.empty()) << told(record);
    for (const auto& [name, counter] : record.witness)
      EXPECT_EQ(counter.planned, counter.found) << told(record);
  }
}

TEST(Operators, NothingIsLeftOnTheDevice) {
  const auto context = context_on(BRANCHMARK_CPU_MODULE);
  for (const auto& one : operator_cases(context))
    if (one.parameters[1].second == "zero_rows") carry_out(one);
  EXPECT_EQ(context()->counters().live_buffers, 0);
}

TEST(Operators, ListsCasesWithoutADevice) {
  const auto cases = operator_cases([]() -> std::shared_ptr<Context> {
    ADD_FAILURE() << "the list asked for a device";
    return nullptr;
  });
  std::set<std::string> keys;
  for (const auto& one : cases) EXPECT_TRUE(keys.insert(one.key()).second) << one.key();
  EXPECT_TRUE(keys.contains(
      "operators/op=rms_norm,fact=accuracy,numerics=default,rows=257,columns=1024,weight=bf16"));
}

TEST(Operators, SameSeedSameMetrics) {
  const auto context = context_on(BRANCHMARK_CPU_MODULE);
  const auto distance = [&](std::uint64_t seed) {
    for (const auto& one : operator_cases(context, {.full = false, .seed = seed}))
      if (one.parameters[0].second == "gated_attention" && one.parameters[1].second == "accuracy")
        return carry_out(one).metrics.at("relative_l2").samples[0];
    return 0.0;
  };
  EXPECT_EQ(distance(1), distance(1));
  EXPECT_NE(distance(1), distance(2));
}

TEST(Operators, TheWrappingModuleWithoutAFaultHolds) {
  EXPECT_EQ(failures_of(context_on(BRANCHMARK_FAULTY_MODULE), {"rms_norm", "conv"}).cases, 0);
}

TEST(Operators, ANormWithoutOneIsCaught) {
  const Fault fault("norm_without_one");
  const auto failures = failures_of(context_on(BRANCHMARK_FAULTY_MODULE), {"rms_norm", "add_rms_norm"});
  EXPECT_GT(failures.cases, 2);
  EXPECT_TRUE(failures.ids.contains("outside_tolerance"));
  EXPECT_NE(failures.messages.find("rms_norm, accuracy, numerics default: out row 0, column 0: found 0x"),
            std::string::npos)
      << failures.messages;
}

TEST(Operators, AZeroedGdnStateIsCaught) {
  const Fault fault("zero_gdn_state");
  const auto failures = failures_of(context_on(BRANCHMARK_FAULTY_MODULE), {"gdn_prefill"});
  for (const char* fact : {"accuracy", "continued", "tails", "zero_rows"})
    EXPECT_TRUE(failures.facts.contains(fact)) << fact;
  EXPECT_TRUE(failures.ids.contains("bits_differ"));
  EXPECT_NE(failures.messages.find("gdn_prefill, tails, numerics default: out row 0, column 0"),
            std::string::npos)
      << failures.messages;
}

TEST(Operators, ALostConvHistoryRowIsCaught) {
  const Fault fault("lost_conv_history");
  const auto failures = failures_of(context_on(BRANCHMARK_FAULTY_MODULE), {"conv"});
  for (const char* fact : {"accuracy", "continued", "tails", "zero_rows"})
    EXPECT_TRUE(failures.facts.contains(fact)) << fact;
}

TEST(Operators, ShiftedPositionsAreCaught) {
  const Fault fault("shifted_positions");
  const auto failures = failures_of(context_on(BRANCHMARK_FAULTY_MODULE), {"attention_prepare"});
  EXPECT_EQ(failures.facts, std::set<std::string>{"packed"});
  EXPECT_NE(failures.messages.find("query row 1, column "), std::string::npos) << failures.messages;
}

TEST(Operators, AFailedCallIsAnError) {
  const Fault fault("unserved_m=33");
  for (const auto& one : operator_cases(context_on(BRANCHMARK_FAULTY_MODULE))) {
    if (one.key().find("op=gemm,fact=accuracy,numerics=default,gemm=fixed") == std::string::npos) continue;
    try {
      carry_out(one);
      ADD_FAILURE() << one.key() << " did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unserved_size);
      EXPECT_NE(std::string(error.what()).find("M=33"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace branchmark
