// One call of the module fails in the middle of a run, whichever it is: the run says which, its other cases
// are there, and the code is one of the table.

#include "cli/process.hpp"

namespace branchmark {
namespace {

class FailingCall : public test::CommandLine {
 protected:
  test::Ended run_failing_at(const std::string& call) const {
    return run(
        {"qualify", "small.json", "--kernels", BRANCHMARK_COUNTING_MODULE, "--device", "cpu", "--no-cache",
         "--report", "report.json", "--force", "--filter", "^(shared_equals_fixed|continuation|repeated)"},
        {{"BRANCHMARK_TEST_FAIL_CALL", call}, {"BRANCHMARK_THREADS", "1"}});
  }
  void SetUp() override { write_scenario(); }
};

TEST_F(FailingCall, CostsOneCaseAndIsNamed) {
  for (const char* nth : {"400", "1500"}) {
    SCOPED_TRACE(nth);
    test::expect_exit(run_failing_at(nth), 1, {"1 case failed", "kernel", "1 error"});
    std::int64_t errors = 0;
    for (const auto& one : cases()) {
      if (one.at("outcome") == "pass") continue;
      ++errors;
      EXPECT_EQ(one.at("outcome"), "error") << one;
      EXPECT_NE(one.at("findings")[0].at("message").get<std::string>().find("injected failure of "),
                std::string::npos)
          << one;
    }
    EXPECT_EQ(errors, 1);
    EXPECT_GT(cases().size(), 3u);
  }
}

// Status 6: the device is lost.
TEST_F(FailingCall, ThatLosesTheDeviceIsAHardwareFault) {
  test::expect_exit(run_failing_at("700:6"), 5, {"hardware_fault"});
}

// Before the first case: describing the device, opening it, loading the weights.
TEST_F(FailingCall, WhileTheModelIsMadeIsNoVerdict) {
  for (const char* nth : {"1", "2", "3", "10", "50"}) {
    SCOPED_TRACE(nth);
    const auto ended = run_failing_at(nth);
    EXPECT_NE(ended.code, 0);
    EXPECT_LT(ended.code, 70) << ended.err;
    EXPECT_NE(ended.err.find("injected failure of "), std::string::npos) << ended.err;
  }
}

// A faulty adapter is refused before its module is looked for.
TEST_F(FailingCall, AFaultyAdapterIsRefusedBeforeTheModuleIsOpened) {
  folder_.write("adapted.json", R"({"schema_version": "1.0", "name": "adapted",
    "model": {"preset": "qwen3.5-smoke", "adapter": "adapter"}})");
  std::filesystem::create_directory(folder_.path() / "adapter");
  folder_.write("adapter/adapter_config.json", R"({"peft_type": "LORA", "r": 129, "lora_alpha": 8})");
  const std::vector<std::string> arguments = {"qualify",   "adapted.json", "--kernels",
                                              "absent.so", "--report",     "report.json"};
  test::expect_exit(run(arguments), 2, {"adapter_config.json", "/r"});
  folder_.write("adapted.json", R"({"schema_version": "1.0", "name": "adapted",
    "model": {"preset": "qwen3.5-smoke"}})");
  test::expect_exit(run(arguments), 4, {"absent.so"});
}

}  // namespace
}  // namespace branchmark
