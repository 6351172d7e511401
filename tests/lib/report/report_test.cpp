#include "branchmark/report/report.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "branchmark/base/error.hpp"
#include "branchmark/report/host.hpp"
#include "fixture.hpp"

namespace branchmark {
namespace {

std::string text_of(const Report& report) {
  std::string text;
  write_report(report, [&](std::string_view piece) { text += piece; });
  return text;
}

Report full_report() {
  Report report = small_report();
  report.kernels = KernelsInfo{"libbranchmark_cpu.so", 1, "gcc", std::string(64, 'c')};
  report.device.emplace();
  report.device->name = "CPU";
  report.device->ecc = false;
  report.device->null_reasons["uuid"] = "a CPU has none";
  report.model = ModelInfo{"qwen3.5-smoke", "preset", {{"hidden", 256}}, std::string(64, 'd'), "default"};
  report.gemm["class"] = {{"algorithms", {1, 2}}};
  report.device_before = Json{{"ecc_uncorrected", 0}};
  report.exit = make_exit(kExitOk, "3 passed");
  report.ended_at = utc_now();
  report.complete = true;
  report.cases = {passing_case(), failing_case(), skipped_case()};
  return report;
}

TEST(Report, TextIsTheCanonicalFormOfItsJson) {
  for (const Report& report : {small_report(), full_report()})
    EXPECT_EQ(text_of(report), json_text(to_json(report)) + "\n");
}

TEST(Report, ReadsBackTheSame) {
  for (const Report& report : {small_report(), full_report()}) {
    const std::string text = text_of(report);
    EXPECT_EQ(text_of(report_from_json(parse_json(text, "report"), "report")), text);
  }
}

TEST(Report, EveryNullHasAReason) {
  const Json json = to_json(small_report());
  for (const Json& object : {json, json["tool"], json["host"], to_json(full_report())["device"]})
    for (const auto& [name, value] : object.items())
      if (value.is_null()) {
        EXPECT_TRUE(object["null_reasons"].contains(name)) << name;
      }
}

// K46
TEST(Report, K46NewerMinorIsReadNewerMajorRefused) {
  Json json = to_json(full_report());
  json["schema"]["version"] = "1.1";
  json["added_later"] = {1, 2};
  json["cases"][0]["added_later"] = true;
  EXPECT_EQ(report_from_json(json, "report").cases.size(), 3u);
  for (const char* version : {"2.0", "0.9"}) {
    json["schema"]["version"] = version;
    try {
      report_from_json(json, "old.json");
      FAIL() << version;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE(std::string(error.what()).find("old.json: at /schema/version"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Report, RunIdsAreUniqueAndPlain) {
  std::set<std::string> ids;
  for (int i = 0; i < 20; ++i) ids.insert(begin_report("qualify", "a b/..", {}).run_id);
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_NE(ids.begin()->find("Z-a-b-..-"), std::string::npos) << *ids.begin();
  EXPECT_EQ(ids.begin()->find('/'), std::string::npos);
}

TEST(Host, DescribesThisMachine) {
  const HostInfo host = describe_host();
  EXPECT_FALSE(host.kernel.empty());
  EXPECT_GE(host.logical_cores, host.usable_cores);
  EXPECT_GE(host.usable_cores, 1);
  EXPECT_GT(host.memory_bytes.value_or(0), 0);
  EXPECT_EQ(describe_tool().version.find('.'), 1u);
}

TEST(Host, RecordsOnlyWhatChangesBitsOrSpeed) {
  for (const char* name : {"CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_LOG_LEVEL", "NVIDIA_TF32_OVERRIDE",
                           "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    EXPECT_TRUE(is_recorded_variable(name)) << name;
  for (const char* name : {"HOME", "PATH", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "CUDA_API_TOKEN", "OMP"})
    EXPECT_FALSE(is_recorded_variable(name)) << name;
}

TEST(Host, RedactsArguments) {
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(redacted({"/home/someone/bin/branchmark", "--report=/home/someone/r.json", "/home/someoneelse/x",
                      "--api-token", "abc", "--password=abc", "https://user:pass@host/x"}),
            (std::vector<std::string>{"~/bin/branchmark", "--report=~/r.json", "/home/someoneelse/x",
                                      "--api-token", "***", "--password=***", "https://***@host/x"}));
}

TEST(Host, TimesAreRfc3339) {
  const std::string now = utc_now();
  ASSERT_EQ(now.size(), 24u);
  EXPECT_EQ(now[10], 'T');
  EXPECT_EQ(now[19], '.');
  EXPECT_EQ(now.back(), 'Z');
}

}  // namespace
}  // namespace branchmark
