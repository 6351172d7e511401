// `parity` from end to end: the mini fixture as the right side, two entry points, two modules.

#include <regex>

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class ParityCommand : public test::CommandLine {
 protected:
  void write(const std::string& parity, const std::string& more) const {
    folder_.write("parity.json", R"({"schema_version": "1.0", "name": "parity", "model": {"checkpoint": ")" +
                                     std::string(BRANCHMARK_TEST_DATA) + R"(/qwen3_5-mini"}, "parity": )" +
                                     parity + ", " + more + "}");
  }
  // The bound of every case by one number; the fixture's own are checked one by one in parity_test of verify.
  std::string reference(const std::string& bound) const {
    return R"("reference": {"file": ")" + std::string(BRANCHMARK_TEST_DATA) +
           R"(/qwen3_5-mini/expected.safetensors", "max_relative_l2": )" + bound + "}";
  }
};

TEST_F(ParityCommand, TheRecordedReferenceIsMetInEveryCase) {
  write(R"({"left": {"entry": "forward_shared", "gemm": "class"}})",
        reference(
            R"({"full_1": 0.145, "full_63": 0.0244, "full_64": 0.0201, "full_65": 0.0304, "full_130": 0.0288,
                      "split_100_64": 0.0294, "mrope_96": 0.024})"));
  expect_exit(run({"parity", "parity.json", "--device", "cpu", "--report", "report.json"}), 0, {"7 passed"});
  for (const auto& one : cases())
    for (int layer = 0; layer < 4; ++layer)
      EXPECT_TRUE(one.at("metrics").contains("relative_l2_stream_" + std::to_string(layer))) << one.at("key");
}

TEST_F(ParityCommand, ReferenceNumericsMeetATightBound) {
  write(R"({"left": {"entry": "forward", "numerics": "reference"}})", reference("1e-5"));
  expect_exit(run({"parity", "parity.json", "--device", "cpu", "--report", "report.json"}), 0, {"7 passed"});
}

TEST_F(ParityCommand, ABoundThatCannotBeMetIs1) {
  write(R"({"left": {"entry": "forward_fixed", "gemm": "fixed"}})", reference("1e-9"));
  expect_exit(run({"parity", "parity.json", "--device", "cpu", "--report", "report.json"}), 1,
              {"7 cases failed", "distance_exceeded"});
}

constexpr auto kPrompts = R"("prompts": {"request_prefix_tokens": [70], "groupings":
  [{"name": "a", "groups": [{"prefix_tokens": 0, "branch_tokens": [3, 65]}]}]})";

TEST_F(ParityCommand, TwoEntryPointsAreEqualBits) {
  write(
      R"({"left": {"entry": "forward_shared", "gemm": "class"}, "right": {"entry": "forward_fixed", "gemm": "fixed"}})",
      kPrompts);
  expect_exit(run({"parity", "parity.json", "--device", "cpu"}), 0, {"1 passed"});
}

TEST_F(ParityCommand, TwoModulesAreToldApartAndTheFirstDivergenceNamed) {
  write(R"({"left": {"entry": "forward_shared", "gemm": "fixed", "kernels": ")" +
            std::string(BRANCHMARK_FAULTY_MODULE) +
            R"("}, "right": {"entry": "forward_shared", "gemm": "fixed"}})",
        kPrompts);
  expect_exit(run({"parity", "parity.json", "--device", "cpu", "--report", "same.json"}), 0, {"1 passed"});
  expect_exit(run({"parity", "parity.json", "--device", "cpu", "--report", "other.json"},
                  {{"BRANCHMARK_TEST_FAULT", "zero_gdn_state"}}),
              1, {"bits_differ"});
  const auto message = cases("other.json")[0].at("findings")[0].at("message").get<std::string>();
  EXPECT_TRUE(
      std::regex_search(message, std::regex("layer 0, op gdn_prefill, row 64, column [0-9]+: 0x[0-9a-f]{4}")))
      << message;
}

}  // namespace
}  // namespace branchmark
