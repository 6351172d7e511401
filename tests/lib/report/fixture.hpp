// Records and folders that the tests of report/ share.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"
#include "branchmark/report/case_record.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark {

inline CaseRecord passing_case(std::int64_t prefix = 70) {
  CaseRecord record;
  record.check = "shared_equals_fixed";
  record.parameters = {{"prefix", prefix}, {"gemm", "class"}, {"graph", "off"}};
  record.outcome = Outcome::pass;
  record.add_metric("relative_l2", "1", Better::lower, 0.0);
  record.witness["states_captured"] = {1, 1};
  record.digests = {std::string(64, 'a')};
  record.duration_ns = 1.25e6;
  return record;
}

inline CaseRecord failing_case() {
  CaseRecord record;
  record.check = "gemm_rows";
  record.parameters = {{"n", 512}, {"k", 256}};
  record.outcome = Outcome::fail;
  record.findings = {
      {"bits_differ", Severity::error, "row 3 differs:\n0x3f80 <and> 0x3f81 | \"x\"", "run it alone"}};
  return record;
}

inline CaseRecord skipped_case(std::string reason = "graph_unsupported") {
  CaseRecord record;
  record.check = "graph_equals_eager";
  record.outcome = Outcome::skipped;
  record.skip_reason = std::move(reason);
  return record;
}

inline Report small_report() {
  Report report = begin_report("qualify", "smoke", {"branchmark", "qualify", "smoke"});
  report.scenario = ScenarioInfo{"smoke", std::string(64, 'b'), "{}\n"};
  return report;
}

// The code of the error that `act` throws.
inline ErrorCode code_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "expected an error";
  return ErrorCode::internal;
}

// An empty folder that is removed with the test.
class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / ("branchmark-" + std::string(test->test_suite_name()) +
                                                        "-" + test->name() + "-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  std::size_t num_files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      count += entry.is_regular_file();
    return count;
  }

  std::filesystem::path folder_;
};

}  // namespace branchmark
