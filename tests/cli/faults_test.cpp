// Faults in the code under test, through a module that wraps the real one: each is a failed check, and its
// finding names the case, the branch, the first layer, the op and the values.

#include <regex>

#include "cli/process.hpp"

namespace branchmark {
namespace {

struct Fault {
  std::string name;
  std::string place;  // a regular expression for the first difference
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

class Faults : public test::CommandLine, public testing::WithParamInterface<Fault> {
 protected:
  std::vector<std::string> command(const std::string& filter) const {
    return {"qualify",     "wide.json", "--kernels",  BRANCHMARK_FAULTY_MODULE,
            "--device",    "cpu",       "--no-cache", "--report",
            "report.json", "--force",   "--filter",   filter};
  }
  // Long enough that the default handle's other order of sums shows in bf16.
  void SetUp() override {
    folder_.write("wide.json", R"({"schema_version": "1.0", "name": "wide",
      "model": {"preset": "qwen3.5-smoke"},
      "prompts": {"request_prefix_tokens": [130],
        "groupings": [{"name": "g", "groups": [{"prefix_tokens": 0, "branch_tokens": [3, 200]}]}]}})");
  }
};

TEST_P(Faults, FailTheRunAndAreExplained) {
  const auto ended =
      run(command("^shared_equals_fixed.*gemm=fixed"), {{"BRANCHMARK_TEST_FAULT", GetParam().name}});
  test::expect_exit(ended, 1, {"shared_equals_fixed/prefix=130,grouping=g", "bits_differ"});
  const auto found = report();
  EXPECT_EQ(found.at("exit").at("code"), 1);
  ASSERT_EQ(found.at("cases").size(), 1u);
  const auto& one = found.at("cases")[0];
  EXPECT_EQ(one.at("outcome"), "fail");
  bool named = false;
  for (const auto& finding : one.at("findings")) {
    if (finding.at("id") != "bits_differ") continue;
    named = true;
    const auto message = finding.at("message").get<std::string>();
    EXPECT_TRUE(std::regex_search(message, std::regex("request/group 0/branch [01]: "))) << message;
    EXPECT_TRUE(std::regex_search(
        message,
        std::regex("layer [0-9]+, op " + GetParam().place +
                   ", column [0-9]+: 0x[0-9a-f]{4} \\(.*\\) and 0x[0-9a-f]{4} \\(.*\\), [0-9]+ bf16 ulp")))
        << message;
    const auto repeat = finding.at("suggestion").get<std::string>();
    EXPECT_NE(repeat.find("branchmark qualify wide.json"), std::string::npos) << repeat;
    EXPECT_NE(repeat.find("--kernels"), std::string::npos) << repeat;
    EXPECT_NE(repeat.find("--filter '^shared_equals_fixed/prefix=130"), std::string::npos) << repeat;
  }
  EXPECT_TRUE(named) << one;
}

TEST_P(Faults, TheSameRunWithoutTheFaultPasses) {
  test::expect_exit(run(command("^shared_equals_fixed.*gemm=fixed")), 0, {"1 passed"});
}

INSTANTIATE_TEST_SUITE_P(Each, Faults,
                         testing::Values(Fault{"zero_gdn_state", "gdn_prefill, row 128"},
                                         Fault{"lost_conv_history", "conv, row 128"},
                                         Fault{"shifted_positions", "attention_prepare, row 128"},
                                         Fault{"default_inside_fixed",
                                               "(mixer_input|mixer_output|gate_up|down), row [0-9]+"}),
                         [](const auto& each) { return each.param.name; });

class OtherFaults : public Faults {};

TEST_F(OtherFaults, K01AZeroedStateFailsTheContinuation) {
  const auto ended =
      run(command("^continuation/cut=64,gemm=fixed"), {{"BRANCHMARK_TEST_FAULT", "zero_gdn_state"}});
  test::expect_exit(ended, 1, {"continuation/cut=64"});
  EXPECT_NE(cases()[0].at("findings")[0].at("message").get<std::string>().find("cut 64, branch of 1 tokens"),
            std::string::npos);
}

TEST_F(OtherFaults, TheDefaultHandleInsideFixedFailsTheRowsOfProducts) {
  test::expect_exit(
      run(command("^gemm_rows.*gemm=fixed"), {{"BRANCHMARK_TEST_FAULT", "default_inside_fixed"}}), 1,
      {"gemm_rows"});
}

// K37
TEST_F(OtherFaults, K37AnUnservedSizeIsAnErrorThatNamesIt) {
  const auto ended =
      run(command("^shared_equals_fixed.*gemm=fixed"), {{"BRANCHMARK_TEST_FAULT", "unserved_m=128"}});
  test::expect_exit(ended, 1, {"unserved_size"});
  const auto message = cases()[0].at("findings")[0].at("message").get<std::string>();
  EXPECT_TRUE(std::regex_search(message, std::regex("N=[0-9]+, K=[0-9]+, M=128"))) << message;
}

}  // namespace
}  // namespace branchmark
