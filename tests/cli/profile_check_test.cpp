// `profile-check` from end to end, and the switch `model.merge`.

#include <algorithm>

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class ProfileCheckCommand : public test::CommandLine {
 protected:
  // A PEFT adapter of rank 1 on up_proj of layer 0: every element of the delta is `delta`.
  void write_adapter(float delta = 0.0078125f, std::int64_t hidden = 256, std::int64_t ffn = 512) const {
    std::filesystem::create_directory(folder_.path() / "lora");
    folder_.write("lora/adapter_config.json", R"({"peft_type": "LORA", "r": 1, "lora_alpha": 1})");
    const std::string module = "base_model.model.model.language_model.layers.0.mlp.up_proj";
    const std::vector<float> a(static_cast<std::size_t>(hidden), 1.0f);
    const std::vector<float> b(static_cast<std::size_t>(ffn), delta);
    folder_.write("lora/adapter_model.safetensors",
                  test::safetensors_text({{module + ".lora_A.weight", "F32", {1, hidden}, test::bytes_of(a)},
                                          {module + ".lora_B.weight", "F32", {ffn, 1}, test::bytes_of(b)}}));
  }
};

TEST_F(ProfileCheckCommand, TheShippedScenarioGivesTheFullTable) {
  const auto ended = run({"profile-check", "profile-check", "--device", "cpu", "--report", "report.json",
                          "--junit", "junit.xml", "--markdown", "report.md"});
  expect_exit(ended, 0, {"40 passed"});
  EXPECT_TRUE(report().at("complete").get<bool>());
  std::size_t refused = 0;
  for (const auto& one : cases()) {
    EXPECT_EQ(one.at("key").get<std::string>().rfind("profile/", 0), 0u);
    refused += one.at("witness").contains("entry_points_refused") ? 1 : 0;
  }
  EXPECT_EQ(refused, 21u);
  std::size_t rows = 0, refusals = 0;
  for (std::size_t at = 0; (at = ended.err.find("refused", at)) != std::string::npos; ++at) ++refusals;
  for (const auto* row :
       {"none      default    default", "none      default    fp32", "none      reference  default",
        "none      reference  fp32", "unmerged  default    default", "unmerged  default    fp32",
        "unmerged  reference  default", "unmerged  reference  fp32"})
    rows += ended.err.find(row) != std::string::npos ? 1 : 0;
  EXPECT_EQ(rows, 8u) << ended.err;
  EXPECT_EQ(refusals, 21u) << ended.err;
  EXPECT_NE(test::read_whole(folder_.path() / "junit.xml").find("tests=\"40\""), std::string::npos);
  EXPECT_EQ(test::read_whole(folder_.path() / "report.md").find('#'), 0u);
}

TEST_F(ProfileCheckCommand, WhatTheScenarioSaysOfNumericsTakesNoPart) {
  const std::vector<std::string> command = {"profile-check", "profile-check", "--device", "cpu", "--list"};
  auto other = command;
  other.insert(other.end(), {"--set", "model.numerics=reference", "--set", "model.gdn=fp32"});
  const auto listed = run(command);
  expect_exit(listed, 0, {});
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 40);
  EXPECT_EQ(run(other).out, listed.out);
}

// The fault strikes every second call of an op, of which three layers make an odd number in each pass.
TEST_F(ProfileCheckCommand, AModuleThatGivesOtherBitsIs1) {
  write_scenario("small.json", "[64]");
  const std::vector<std::string> command = {"profile-check", "small.json",
                                            "--device",      "cpu",
                                            "--kernels",     BRANCHMARK_FAULTY_MODULE,
                                            "--set",         "model.layers=3",
                                            "--filter",      "adapter=none,numerics=reference,gdn=default",
                                            "--force",       "--report",
                                            "report.json"};
  expect_exit(run(command), 0, {"5 passed"});
  expect_exit(run(command, {{"BRANCHMARK_TEST_FAULT", "changing_silu_mul"}}), 1, {"bits_differ"});
}

TEST_F(ProfileCheckCommand, NeedsPromptsAndAnAdapterThatIsNotMerged) {
  write_adapter();
  folder_.write("bare.json",
                R"({"schema_version": "1.0", "name": "bare", "model": {"preset": "qwen3.5-smoke"}})");
  expect_exit(run({"profile-check", "bare.json", "--device", "cpu"}), 2, {"/prompts", "missing"});
  write_scenario();
  expect_exit(run({"profile-check", "small.json", "--device", "cpu", "--set", "model.adapter=lora", "--set",
                   "model.merge=true"}),
              2, {"/model/merge"});
}

TEST_F(ProfileCheckCommand, AMergedAdapterQualifiesAndIsSaidInTheReport) {
  write_adapter();
  write_scenario();
  const std::vector<std::string> command = {"qualify", "small.json", "--device",
                                            "cpu",     "--filter",   "^shared_equals_fixed"};
  const auto with = [&](const std::vector<std::string>& more) {
    auto arguments = command;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  expect_exit(with({"--report", "base.json"}), 0, {});
  const auto merged =
      with({"--report", "merged.json", "--set", "model.adapter=lora", "--set", "model.merge=true"});
  expect_exit(merged, 0, {});
  EXPECT_NE(merged.err.find("profile merged LoRA adapter, default"), std::string::npos) << merged.err;
  const auto base = report("base.json");
  const auto found = report("merged.json");
  EXPECT_EQ(base.at("model").at("profile"), "default");
  EXPECT_EQ(found.at("model").at("profile"), "merged LoRA adapter, default");
  EXPECT_NE(found.at("model").at("weights_digest"), base.at("model").at("weights_digest"));
  ASSERT_EQ(found.at("cases").size(), base.at("cases").size());
  for (std::size_t i = 0; i < found.at("cases").size(); ++i)
    EXPECT_NE(found.at("cases")[i].at("digests"), base.at("cases")[i].at("digests"))
        << found.at("cases")[i].at("key");
}

// An adapter that adds nothing meets the reference of the weights alone; one that adds something does not.
TEST_F(ProfileCheckCommand, ARecordedReferenceIsComparedWithTheAdapterRunning) {
  const auto mini = std::string(BRANCHMARK_TEST_DATA) + "/qwen3_5-mini";
  folder_.write("reference.json", R"({"schema_version": "1.0", "name": "reference", "checks": ["reference"],
    "model": {"checkpoint": ")" + mini +
                                      R"(", "adapter": "lora", "numerics": "reference"},
    "reference": {"file": ")" + mini + R"(/expected.safetensors", "max_relative_l2": 1e-5}})");
  for (const auto* merge : {"model.merge=false", "model.merge=true"}) {
    const std::vector<std::string> command = {"qualify", "reference.json", "--device", "cpu", "--set", merge};
    write_adapter(0, 64, 128);
    expect_exit(run(command), 0, {"7 passed"});
    write_adapter(0.0078125f, 64, 128);
    expect_exit(run(command), 1, {"7 cases failed", "distance_exceeded"});
  }
}

TEST_F(ProfileCheckCommand, ADryRunReadsTheAdapter) {
  write_scenario();
  std::vector<std::string> command = {"qualify",   "small.json", "--device",          "cpu",
                                      "--dry-run", "--set",      "model.adapter=lora"};
  expect_exit(run(command), 2, {"adapter_config.json"});
  write_adapter();
  expect_exit(run(command), 2, {"/model", "unmerged LoRA adapter"});
  command.insert(command.end(), {"--set", "checks=[\"operators\", \"profiles\"]"});
  expect_exit(run(command), 0, {"dry run"});
}

}  // namespace
}  // namespace branchmark
