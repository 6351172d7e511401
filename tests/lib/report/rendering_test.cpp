// The renderings of a report for people and CI servers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "branchmark/report/human.hpp"
#include "branchmark/report/junit.hpp"
#include "branchmark/report/markdown.hpp"
#include "branchmark/report/summary.hpp"
#include "fixture.hpp"

namespace branchmark {
namespace {

Report mixed_report() {
  Report report = small_report();
  CaseRecord invalid = passing_case(3);
  invalid.invalid_reasons = {"throttled"};
  report.cases = {passing_case(), skipped_case(), failing_case(), failing_case(), invalid};
  report.cases.back().findings = {{"warm", Severity::warning, "the device is warm", ""}};
  report.cases[0].findings = {{"note", Severity::note, "by the way", ""}};
  ExitDecision decision("medium");
  for (const CaseRecord& record : report.cases) decision.add(record);
  report.exit = decision.decide();
  report.complete = true;
  return report;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Summary, CountsByCheckAndGroupsFindings) {
  const auto counts = count_by_check(mixed_report());
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts[0].text(), "1 passed, 1 invalid");
  EXPECT_FALSE(counts[0].clean());
  EXPECT_TRUE(counts[1].clean());
  EXPECT_EQ(counts[2].text(), "2 failed");
  const auto groups = group_findings(mixed_report());
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].first.id, "bits_differ");
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_EQ(groups[1].first.id, "warm");
}

TEST(Human, VerdictFitsAScreenWhateverTheNumberOfCases) {
  Report report = mixed_report();
  for (int i = 0; i < 1000; ++i) {
    CaseRecord failed = failing_case();
    failed.findings[0].id = "kind_" + std::to_string(i % 20);
    report.cases.push_back(failed);
  }
  const std::string text = verdict_text(report, "r.json", Colour::none);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 50);
  EXPECT_TRUE(has(text, "16 more kinds")) << text;
  EXPECT_TRUE(has(text, "FAIL  qualify smoke, level medium\nreport r.json\n")) << text;
}

TEST(Human, ColourOnRequestOnlyAndNoForeignEscapes) {
  Report report = mixed_report();
  report.cases[2].findings[0].message = "\x1b[2Jgone";
  EXPECT_FALSE(has(verdict_text(report, "r", Colour::none), "\x1b"));
  EXPECT_TRUE(has(verdict_text(report, "r", Colour::ansi), "\x1b[31mFAIL\x1b[0m"));
  EXPECT_FALSE(has(verdict_text(report, "r", Colour::ansi), "\x1b[2J"));
}

TEST(Human, CaseLines) {
  EXPECT_EQ(case_line(passing_case(), 2, 170, Colour::none),
            "[  2/170] pass         shared_equals_fixed/prefix=70,gemm=class,graph=off, 1.2 ms");
  EXPECT_TRUE(has(case_line(skipped_case(), 1, 1, Colour::none), "(graph_unsupported)"));
  EXPECT_TRUE(has(case_line(failing_case(), 1, 1, Colour::none), "row 3 differs: 0x3f80"));
}

TEST(Markdown, EscapesWhatIsMarkup) {
  const std::string text = markdown_text(mixed_report());
  EXPECT_TRUE(has(text, "## qualify smoke: check\\_failed"));
  EXPECT_TRUE(has(text, "row 3 differs: 0x3f80 &lt;and&gt; 0x3f81 \\| \"x\"")) << text;
  EXPECT_TRUE(has(text, "| gemm\\_rows | 2 failed |"));
}

TEST(Junit, CountsAndEscapes) {
  Report report = mixed_report();
  report.cases[2].findings[0].message += std::string("\x01\xff\xef\xbf\xbf", 5);
  report.cases[0].duration_ns = NAN;
  const std::string text = junit_text(report);
  EXPECT_TRUE(has(text, "tests=\"5\" failures=\"2\" errors=\"1\" skipped=\"1\"")) << text;
  EXPECT_TRUE(has(text, "&lt;and&gt;"));
  EXPECT_TRUE(has(text, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
  EXPECT_TRUE(has(text, "<skipped message=\"graph_unsupported\"/>"));
  EXPECT_TRUE(has(text, "type=\"invalid\""));
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace
}  // namespace branchmark
