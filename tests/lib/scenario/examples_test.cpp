// The binary's side of results-schema/examples: what a schema accepts or refuses, the readers do too.
// scripts/check_schemas.py is the other side.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "branchmark/base/error.hpp"
#include "branchmark/compare/noise_floor.hpp"
#include "branchmark/report/journal.hpp"
#include "branchmark/report/report.hpp"
#include "branchmark/scenario/load.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> examples(const std::string& kind, const std::string& verdict) {
  std::vector<fs::path> files;
  const fs::path folder = fs::path(BRANCHMARK_SOURCE_DIR) / "results-schema" / "examples" / kind / verdict;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

void expect_agreement(const std::string& kind, const std::function<void(const fs::path&)>& read) {
  for (const fs::path& file : examples(kind, "valid")) EXPECT_NO_THROW(read(file)) << file;
  for (const char* verdict : {"invalid", "semantic"})
    for (const fs::path& file : examples(kind, verdict)) {
      try {
        read(file);
        ADD_FAILURE() << file << " was accepted";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage) << file << ": " << error.what();
        EXPECT_NE(std::string(error.what()).find(file.filename().string()), std::string::npos)
            << error.what();
      }
    }
}

TEST(SchemaExamples, Scenario) {
  expect_agreement("scenario", [](const fs::path& file) { load_scenario(file.string()); });
}

TEST(SchemaExamples, Report) {
  expect_agreement("report", [](const fs::path& file) { read_report(file); });
}

TEST(SchemaExamples, Journal) {
  expect_agreement("journal", [](const fs::path& file) { read_journal(file); });
}

TEST(SchemaExamples, NoiseFloor) {
  expect_agreement("noise_floor",
                   [](const fs::path& file) { noise_floor_from_json(read_json_file(file), file.string()); });
}

TEST(SchemaExamples, ExpandedScenariosLoadAgain) {
  for (const fs::path& file : examples("scenario", "valid")) {
    const Scenario scenario = load_scenario(file.string());
    EXPECT_EQ(parse_scenario(scenario.expanded(), "expanded", file.parent_path()).digest(), scenario.digest())
        << file;
  }
}

}  // namespace
}  // namespace branchmark
