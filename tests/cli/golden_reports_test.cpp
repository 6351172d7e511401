// K46: a report and a journal of every version of the schema, as the tool of that version wrote them, read by
// this one. A new version adds its files to tests/data/reports; the old ones stay as they are.

#include <fmt/format.h>

#include "branchmark/report/report.hpp"
#include "cli/process.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(BRANCHMARK_TEST_DATA) / "reports";
const std::string kPresent = fmt::format("{}.{}", kSchemaMajor, kSchemaMinor);

class GoldenReports : public test::CommandLine {
 protected:
  std::string text(const std::string& name) const { return test::read_whole(folder_.path() / name); }
};

TEST_F(GoldenReports, K46OfEveryVersionGiveTheSameRenderings) {
  int versions = 0;
  for (int minor = 0; minor <= kSchemaMinor; ++minor) {
    const auto version = fmt::format("{}.{}", kSchemaMajor, minor);
    SCOPED_TRACE(version);
    const auto golden = kFolder / version;
    ASSERT_TRUE(fs::exists(golden.string() + ".json")) << "each version has a golden report";
    for (const std::string from : {".json", ".journal.jsonl"}) {
      std::vector<std::string> arguments = {
          "report", golden.string() + from, "--report", "r.json", "--markdown", "r.md", "--junit", "r.xml",
          "--force"};
      if (from != ".json") arguments.insert(arguments.begin() + 1, "--from-journal");
      test::expect_exit(run(arguments), 0, {"5 cases", "exit 7 (hang)"});
      EXPECT_EQ(text("r.md"), test::read_whole(golden.string() + ".md"));
      EXPECT_EQ(text("r.xml"), test::read_whole(golden.string() + ".xml"));
      if (version == kPresent) {
        EXPECT_EQ(text("r.json"), test::read_whole(golden.string() + ".json"));
      }
    }
    ++versions;
  }
  EXPECT_EQ(versions, kSchemaMinor + 1);
}

// What a later minor version adds is left alone; a later major version may mean anything.
TEST_F(GoldenReports, K46OfTheNextMinorAreReadAndOfTheNextMajorRefused) {
  const auto read_as = [&](int major, int minor) {
    auto later = read_json_file(kFolder / (kPresent + ".json"));
    later["schema"]["version"] = fmt::format("{}.{}", major, minor);
    later["later"] = {{"a", 1}};
    later["cases"][0]["later"] = "b";
    folder_.write("later.json", json_text(later));
    return run({"report", "later.json", "--markdown", "later.md", "--force"});
  };
  test::expect_exit(read_as(kSchemaMajor, kSchemaMinor + 1), 0, {"5 cases"});
  EXPECT_EQ(text("later.md"), test::read_whole(kFolder / (kPresent + ".md")));
  test::expect_exit(read_as(kSchemaMajor + 1, 0), 2, {"later.json", "/schema/version", "major version"});
}

}  // namespace
}  // namespace branchmark
