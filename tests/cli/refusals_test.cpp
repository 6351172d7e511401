// What ends a run before its first case, with which code, and what it leaves behind.

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class Refusals : public test::CommandLine {
 protected:
  void SetUp() override { write_scenario(); }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_.path() / name); }
  // A case that takes no time.
  std::vector<std::string> quick(std::vector<std::string> more) const {
    std::vector<std::string> command = {"qualify", "small.json", "--device",
                                        "cpu",     "--filter",   "^repeated.*fixed.*packed$"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
};

TEST_F(Refusals, WrongUsageIs2AndSaysWhatIsWrong) {
  struct Wrong {
    std::vector<std::string> arguments;
    std::vector<std::string> parts;
  };
  folder_.write("twice.json",
                R"({"schema_version": "1.0", "name": "x", "name": "y", "model": {"preset": "qwen3.5-4b"}})");
  const std::vector<Wrong> all = {
      {{}, {"no command", "qualify", "branchmark --help"}},
      {{"qualfy", "smoke"}, {"found \"qualfy\"", "qualify, bench"}},
      {{"qualify"}, {"scenario"}},
      {{"qualify", "smoke", "--no-such-flag"}, {"--no-such-flag"}},
      {{"qualify", "smoke", "--level", "slow"}, {"slow", "medium"}},
      {{"qualify", "smoke", "--seed", "ten"}, {"--seed", "found \"ten\"", "a whole number"}},
      {{"qualify", "smoke", "--seed", "9223372036854775808"}, {"--seed", "9223372036854775807"}},
      {{"qualify", "no-such-scenario"}, {"no-such-scenario", "smoke"}},
      {{"qualify", "twice.json"}, {"twice.json", "name"}},
      {{"qualify", "smoke", "--set", "model.layers=99"}, {"/model/layers", "99"}},
      {{"qualify", "smoke", "--set", "prompts.groupings.0.groups.0.branch_tokens.0=0"},
       {"/prompts/groupings/0/groups/0/branch_tokens/0", "found 0"}},
      {{"qualify", "smoke", "--set", "execution.packing=[\"loose\"]"}, {"/execution/packing/0", "loose"}},
      {{"qualify", "smoke", "--set", "no_such_key=1"}, {"/no_such_key"}},
      {{"qualify", "smoke", "--set", "model"}, {"--set"}},
      {{"qualify", "smoke", "--model", "qwen3.5-5b"}, {"/model/preset", "qwen3.5-5b", "qwen3.5-4b"}},
      {{"qualify", "smoke", "--filter", "^nothing_has_this_name"}, {"matches no case"}},
      {{"qualify", "smoke", "--filter", "("}, {"--filter"}},
      {{"qualify", "smoke", "--device", "gpu0", "--filter", "^repeated"},
       {"--device", "found \"gpu0\"", "cuda:N"}},
      {{"parity", "smoke", "--device", "cpu"}, {"/parity"}},
      {{"qualify", "smoke", "--device", "cpu", "--set", "model.numerics=reference"},
       {"/model", "found numerics reference", "the check continuation", "profile-check"}},
      {{"bench", "bench-smoke", "--device", "cpu", "--set", "model.gdn=fp32"},
       {"/model", "found gdn fp32", "profile-check"}},
      {{"qualify", "smoke", "small.json", "--report", "r.json"}, {"--report"}},
  };
  for (const auto& wrong : all) expect_exit(run(wrong.arguments), 2, wrong.parts);
  // What is named well and cannot be read is an input that could not be read.
  expect_exit(run({"qualify", "missing.json"}), 6, {"missing.json"});
}

// K40
TEST_F(Refusals, K40NothingToRunIsNever0) {
  folder_.write("empty.jsonl", "");
  folder_.write("file.json",
                R"({"schema_version": "1.0", "name": "file", "model": {"preset": "qwen3.5-smoke"},
    "prompts": {"file": "empty.jsonl"}})");
  expect_exit(run({"qualify", "file.json", "--device", "cpu"}), 2, {"empty.jsonl"});
  folder_.write("none.safetensors", test::safetensors_text(std::vector<test::StoredTensor>{}));
  folder_.write("reference.json",
                R"({"schema_version": "1.0", "name": "r", "model": {"preset": "qwen3.5-smoke"},
    "checks": ["reference"], "reference": {"file": "none.safetensors", "max_relative_l2": 1}})");
  expect_exit(run({"qualify", "reference.json", "--device", "cpu"}), 2, {"none.safetensors"});
  EXPECT_NE(run({"qualify", "smoke", "--set", "checks=[]", "--device", "cpu"}).code, 0);
  EXPECT_EQ(run({"qualify", "smoke", "--set", "checks=[\"refusals\"]", "--filter", "^operators"}).code, 2);
}

TEST_F(Refusals, AnExistingReportStaysUnlessForced) {
  folder_.write("report.json", "precious");
  expect_exit(run(quick({"--report", "report.json"})), 2, {"report.json", "--force"});
  EXPECT_EQ(test::read_whole(folder_.path() / "report.json"), "precious");
  EXPECT_FALSE(exists("report.journal.jsonl"));
  expect_exit(run(quick({"--report", "report.json", "--force"})), 0, {});
  EXPECT_EQ(report().at("exit").at("code"), 0);
}

TEST_F(Refusals, AMissingModuleIs4) {
  const auto ended = run(quick({"--kernels", "no/such/module.so", "--report", "report.json"}));
  expect_exit(ended, 4, {"no/such/module.so"});
}

TEST_F(Refusals, AModuleOfAnotherAbiIs4WithBothVersions) {
  expect_exit(run(quick({"--kernels", BRANCHMARK_OTHER_ABI_MODULE})), 4, {"version 99", "needs 1"});
}

TEST_F(Refusals, WhatIsNoModuleIs4) {
  folder_.write("text.so", "not a library");
  expect_exit(run(quick({"--kernels", "text.so"})), 4, {"text.so"});
}

TEST_F(Refusals, ADeviceThatIsNotThereIs4) {
  expect_exit(run({"qualify", "small.json", "--kernels", BRANCHMARK_GRAPH_MODULE, "--device", "cuda:7",
                   "--filter", "^repeated"}),
              4, {"device 7"});
}

// K43
TEST_F(Refusals, K43AFullDiskIs6) {
  expect_exit(run(quick({"--report", "/dev/full"})), 6, {"/dev/full"});
  expect_exit(run(quick({"--report", "report.json", "--junit", "/dev/full"})), 6, {"/dev/full"});
}

TEST_F(Refusals, K43APathThatCannotBeMadeIs6) {
  folder_.write("file", "");
  expect_exit(run(quick({"--report", "file/report.json"})), 6, {"file/report.json"});
  std::filesystem::create_directory(folder_.path() / "folder");
  expect_exit(run(quick({"--report", "folder"})), 6, {"folder"});
  EXPECT_FALSE(exists("branchmark-out"));
}

TEST_F(Refusals, OutputsAreOpenedBeforeAnyDevice) {
  folder_.write("report.json", "precious");
  expect_exit(run(quick({"--report", "report.json", "--kernels", "no-such-module.so"})), 2, {"report.json"});
}

TEST_F(Refusals, ListAndDryRunTouchNoDeviceAndNoOutput) {
  for (const char* flag : {"--list", "--dry-run"}) {
    const auto ended = run(quick({flag, "--kernels", "no/such/module.so", "--report", "report.json"}));
    expect_exit(ended, 0, {});
    EXPECT_FALSE(exists("report.json"));
    EXPECT_FALSE(exists("branchmark-out"));
  }
  EXPECT_EQ(run(quick({"--list"})).out, "repeated/prefix=70,grouping=g,gemm=fixed,packing=packed\n");
  EXPECT_EQ(run(quick({"--dry-run"})).out, "");
}

TEST_F(Refusals, HelpAndVersionAreAnswers) {
  const auto help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("Example"), std::string::npos);
  EXPECT_LT(help.out.find("Example"), help.out.find("qualify  ")) << "an example comes first";
  EXPECT_EQ(run({"qualify", "--help"}).code, 0);
  const auto version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out.find("branchmark "), 0u);
}

}  // namespace
}  // namespace branchmark
