// JUnit's XML against its schema. Skipped where xmllint is not installed.

#include "cli/process.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;

class Junit : public test::CommandLine {
 protected:
  void SetUp() override {
    if (std::system("xmllint --version >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "xmllint is not installed (package libxml2-utils)";
  }
  // What xmllint finds wrong; empty where the schema holds.
  std::string faults_in(const std::string& name) const {
    const auto log = folder_.path() / "xmllint.txt";
    const auto command = "cd '" + folder_.path().string() + "' && xmllint --nonet --noout --schema '" +
                         BRANCHMARK_SOURCE_DIR "/results-schema/junit.xsd' '" + name + "' >'" + log.string() +
                         "' 2>&1";
    return std::system(command.c_str()) == 0 ? "" : test::read_whole(log);
  }
  std::string text(const std::string& name) const { return test::read_whole(folder_.path() / name); }
};

TEST_F(Junit, OfEveryReadableReportIsValid) {
  for (const char* place :
       {"results-schema/examples/report/valid", "tests/data/reports", "tests/data/compare"})
    for (const auto& entry : fs::directory_iterator(fs::path(BRANCHMARK_SOURCE_DIR) / place)) {
      if (entry.path().extension() != ".json") continue;
      test::expect_exit(run({"report", entry.path().string(), "--junit", "r.xml", "--force"}), 0, {});
      EXPECT_EQ(faults_in("r.xml"), "") << entry.path();
    }
}

TEST_F(Junit, OfARunWithEveryKindOfCaseIsValid) {
  write_scenario("odd & <\u00fc>.json");
  const std::string filter =
      "^(operators/"
      "op=(embed,|silu_mul,fact=accuracy,numerics=default,rows=257,columns=768)|graph_equals_eager)";
  test::expect_exit(run({"qualify", "odd & <\u00fc>.json", "--kernels", BRANCHMARK_PROCESS_FAULTS_MODULE,
                         "--level", "quick", "--report", "r.json", "--junit", "r.xml", "--filter", filter},
                        {{"BRANCHMARK_TEST_FAULT", "segfault"}}),
                    1, {});
  EXPECT_EQ(faults_in("r.xml"), "");
  EXPECT_NE(text("r.xml").find("<skipped "), std::string::npos);
  EXPECT_NE(text("r.xml").find("<error "), std::string::npos);
}

// The schema refuses what readers of the format stumble over.
TEST_F(Junit, SchemaSeesWhatIsWrong) {
  test::expect_exit(run({"report", BRANCHMARK_SOURCE_DIR "/tests/data/reports/1.0.json", "--junit", "r.xml"}),
                    0, {});
  const auto good = text("r.xml");
  const auto with = [&](const std::string& part, const std::string& instead) {
    auto bad = good;
    const auto at = bad.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    bad.replace(at, part.size(), instead);
    folder_.write("bad.xml", bad);
    return faults_in("bad.xml");
  };
  EXPECT_EQ(with("<testsuites>", "<testsuites>"), "");
  EXPECT_NE(with(" tests=\"", " cases=\""), "");
  EXPECT_NE(with("time=\"0.", "time=\"0,"), "");
  EXPECT_NE(with("<failure ", "<failed "), "");
  EXPECT_NE(with("&amp;", "&"), "");
  EXPECT_NE(with("value=\"true\"", "value=\"\""), "");
  EXPECT_NE(with("</failure>", "</failure><skipped message=\"too\"/>"), "");
}

}  // namespace
}  // namespace branchmark
