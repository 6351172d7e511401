// `compare` as a person or a CI job runs it, on two small reports of tests/data/compare.

#include <algorithm>
#include <filesystem>

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class CompareCommand : public test::CommandLine {
 protected:
  void SetUp() override {
    for (const auto* name : {"a.json", "b.json"})
      std::filesystem::copy_file(std::filesystem::path(BRANCHMARK_SOURCE_DIR "/tests/data/compare") / name,
                                 folder_.path() / name);
  }
  // a.json with a change, as `name`.
  template <class Change>
  void write_changed(const std::string& name, const Change& change) const {
    auto json = report("a.json");
    json["run_id"] = "run of " + name;
    change(json);
    folder_.write(name, json_text(json));
  }
  static Json& find_case(Json& json, const std::string& part) {
    return *std::find_if(json["cases"].begin(), json["cases"].end(), [&](const Json& one) {
      return one["key"].get<std::string>().find(part) != std::string::npos;
    });
  }
  std::string text(const std::string& name) const { return test::read_whole(folder_.path() / name); }
};

constexpr const char* kGolden =
    BRANCHMARK_SOURCE_DIR "/results-schema/examples/comparison/valid/regression.json";

// To make it anew: branchmark compare a.json b.json --report FILE, in tests/data/compare.
TEST_F(CompareCommand, GivesTheGoldenComparison) {
  const auto ended = run({"compare", "a.json", "b.json", "--report", "comparison.json", "--markdown", "-"});
  expect_exit(ended, 1,
              {"1 case slower, first single/tokens=1024,gemm=class,seed=1", "outputs equal 14 of 16",
               "2 cases missing or newly failing, first ceiling/kind=copy", "op_launches 260 to 261"});
  EXPECT_EQ(text("comparison.json"), test::read_whole(kGolden));
  EXPECT_EQ(ended.out.find("## compare: check\\_failed\n"), 0u) << ended.out;
  const auto slower = ended.out.find("| **slower** | single/tokens=1024,gemm=class");
  EXPECT_NE(slower, std::string::npos) << ended.out;
  EXPECT_LT(slower, ended.out.find("| same | "));
  EXPECT_NE(ended.err.find("driver: A 580.1, B 581.2"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("CUBLAS_WORKSPACE_CONFIG: A not set, B \":4096:8\""), std::string::npos);
  run({"compare", "a.json", "b.json", "--report", "again.json", "--quiet"});
  EXPECT_EQ(text("again.json"), text("comparison.json"));
}

TEST_F(CompareCommand, AReportAgainstItselfIsTheSame) {
  const auto ended = run({"compare", "a.json", "a.json", "--report", "-"});
  expect_exit(ended, 0, {"outputs equal 24 of 24", "8 same"});
  for (const auto& one : parse_json(ended.out, "stdout").at("cases")) EXPECT_EQ(one.at("verdict"), "same");
  const std::string baseline = BRANCHMARK_SOURCE_DIR "/configs/baselines/nvidia-h200/qualify-4b.json";
  expect_exit(run({"compare", baseline, baseline, "--quiet"}), 0, {"747 same"});
}

TEST_F(CompareCommand, AMissingCaseFailsAndIsNamed) {
  write_changed("less.json", [](Json& json) { json["cases"].erase(2); });
  const auto key = report("a.json").at("cases")[2].at("key").get<std::string>();
  expect_exit(run({"compare", "a.json", "less.json"}), 1, {"missing", key});
  expect_exit(run({"compare", "less.json", "a.json"}), 0, {"1 new"});
  expect_exit(run({"compare", "less.json", "a.json", "--fail-on", "new"}), 1, {"1 case new", key});
  expect_exit(run({"compare", "a.json", "less.json", "--fail-on", "slower,changed"}), 0, {"1 missing"});
}

TEST_F(CompareCommand, AChangedOutputIsCounted) {
  write_changed("other.json",
                [](Json& json) { find_case(json, "way=packed")["digests"][0] = std::string(64, '0'); });
  expect_exit(run({"compare", "a.json", "other.json"}), 1,
              {"1 case with changed outputs, first shared/", "outputs equal 23 of 24"});
}

TEST_F(CompareCommand, AnInjectedSlowCaseIsNamed) {
  write_changed("slow.json", [](Json& json) {
    auto& metric = find_case(json, "way=per_branch")["metrics"]["device_ns"];
    for (auto& sample : metric["samples"]) sample = sample.get<double>() * 1.05;
  });
  expect_exit(run({"compare", "a.json", "slow.json"}), 1,
              {"1 case slower, first shared/prefix=3093,branches=8,way=per_branch,seed=1 (device_ns 1.050",
               "7 same, 1 slower"});
  expect_exit(run({"compare", "a.json", "slow.json", "--min-effect", "0.1"}), 0, {"8 same"});
  expect_exit(run({"compare", "slow.json", "a.json"}), 0, {"1 faster"});
  const auto ended = run({"compare", "a.json", "slow.json", "--annotations", "github", "--quiet"});
  EXPECT_EQ(ended.out.find("::error title=branchmark compare%2C slower::shared/"), 0u) << ended.out;
}

// K46
TEST_F(CompareCommand, K46ANewerMajorVersionIsRefused) {
  write_changed("newer.json", [](Json& json) { json["schema"]["version"] = "2.0"; });
  expect_exit(run({"compare", "a.json", "newer.json"}), 2, {"newer.json", "major version 1"});
  write_changed("minor.json", [](Json& json) { json["schema"]["version"] = "1.9"; });
  expect_exit(run({"compare", "a.json", "minor.json"}), 0, {});
}

TEST_F(CompareCommand, AnotherDeviceIsRefusedUnlessCrossed) {
  write_changed("h100.json", [](Json& json) { json["device"]["name"] = "NVIDIA H100"; });
  expect_exit(run({"compare", "a.json", "h100.json", "--report", "c.json"}), 2,
              {"device: A NVIDIA H200, B NVIDIA H100", "--cross"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "c.json"));
  expect_exit(run({"compare", "a.json", "h100.json", "--cross"}), 0, {"8 same"});
}

TEST_F(CompareCommand, AnUnknownCommitIsNoBaseline) {
  write_changed("copy.json", [](Json& json) { json["tool"]["git_sha"] = nullptr; });
  expect_exit(run({"compare", "copy.json", "a.json"}), 2, {"commit", "baseline"});
  expect_exit(run({"compare", "a.json", "copy.json"}), 0, {});
}

// The two builds that `bench --against` took in turns.
TEST_F(CompareCommand, OneReportOfTwoBuildsHoldsBothSides) {
  write_changed("both.json", [](Json& json) {
    json["kernels_against"] = json["kernels"];
    Json cases = Json::array();
    for (const auto& one : json["cases"])
      for (const auto* side : {"a", "b"}) {
        auto copy = one;
        copy["key"] = one["key"].get<std::string>() + ",side=" + side;
        copy["params"]["side"] = side;
        if (*side == 'b' && one["params"].value("tokens", 0) == 64)
          for (auto& sample : copy["metrics"]["device_ns"]["samples"]) sample = sample.get<double>() * 1.1;
        cases.push_back(copy);
      }
    json["cases"] = cases;
  });
  expect_exit(run({"compare", "both.json"}), 1,
              {"1 case slower, first single/tokens=64,gemm=class,seed=1 (device_ns 1.100", "7 same"});
}

TEST_F(CompareCommand, SidesOfSeveralRunsAndTheNoiseFloor) {
  const auto scaled = [&](const std::string& name, double factor) {
    write_changed(name, [factor](Json& json) {
      for (auto& one : json["cases"])
        for (const auto* metric : {"device_ns", "wall_ns"})
          for (auto& sample : one["metrics"][metric]["samples"]) sample = sample.get<double>() * factor;
    });
  };
  scaled("r1.json", 1.001);
  scaled("r2.json", 0.999);
  scaled("r3.json", 1.06);
  scaled("r4.json", 1.062);
  expect_exit(run({"compare", "--a", "a.json", "r1.json", "r2.json", "--b", "r3.json", "r4.json"}), 1,
              {"8 cases slower"});
  scaled("r5.json", 1.09);
  expect_exit(run({"compare", "--aa", "a.json", "r1.json", "r5.json", "--report", "floor.json"}), 0,
              {"noise floor 9", "of 3 runs"});
  expect_exit(run({"compare", "a.json", "r3.json"}), 1, {"8 cases slower"});
  for (const std::vector<std::string>& floor :
       {std::vector<std::string>{"--noise-floor", "floor.json"}, {"--aa", "a.json", "r1.json", "r5.json"}}) {
    std::vector<std::string> arguments = {"compare", "a.json", "r3.json"};
    arguments.insert(arguments.end(), floor.begin(), floor.end());
    expect_exit(run(arguments), 0, {"7 same, 1 inconclusive"});
  }
}

TEST_F(CompareCommand, WrongUsageIs2AndWhatCannotBeReadOrWrittenIs6) {
  folder_.write("text.json", "no report");
  expect_exit(run({"compare"}), 2, {"two reports"});
  expect_exit(run({"compare", "a.json"}), 2, {"a.json", "bench --against"});
  expect_exit(run({"compare", "a.json", "--a", "a.json", "--b", "b.json"}), 2, {"two reports"});
  expect_exit(run({"compare", "a.json", "b.json", "b.json"}), 2, {"two reports"});
  expect_exit(run({"compare", "--a", "a.json"}), 2, {"--b"});
  expect_exit(run({"compare", "--a", "a.json", "a.json", "--b", "b.json"}), 2, {"another run"});
  expect_exit(run({"compare", "a.json", "text.json"}), 2, {"text.json"});
  expect_exit(run({"compare", "a.json", "missing.json"}), 6, {"missing.json"});
  expect_exit(run({"compare", "a.json", "b.json", "--fail-on", "faster"}), 2, {"--fail-on", "faster"});
  for (const auto* effect : {"0", "-1", "2%", "nan"})
    expect_exit(run({"compare", "a.json", "b.json", "--min-effect", effect}), 2,
                {"--min-effect", "0.02 for 2%"});
  expect_exit(run({"compare", "a.json", "b.json", "--filter", "("}), 2, {"--filter"});
  expect_exit(run({"compare", "a.json", "b.json", "--noise-floor", "a.json"}), 2, {"a.json", "noise-floor"});
  expect_exit(run({"compare", "--aa", "a.json"}), 2, {"at least two"});
  expect_exit(run({"compare", "--aa", "a.json", "b.json"}), 2, {"commit"});
  expect_exit(run({"compare", "a.json", "b.json", "--report", "b.json"}), 2, {"--force"});
  expect_exit(run({"compare", "a.json", "b.json", "--report", "-", "--markdown", "-"}), 2, {"two outputs"});
  expect_exit(run({"compare", "a.json", "b.json", "--report", "/dev/full"}), 6, {"/dev/full"});
  expect_exit(run({"compare", "a.json", "b.json", "--report", "b.json", "--force"}), 1, {"slower"});
  EXPECT_EQ(text("b.json"), test::read_whole(kGolden)) << "the input was read before it was replaced";
}

}  // namespace
}  // namespace branchmark
