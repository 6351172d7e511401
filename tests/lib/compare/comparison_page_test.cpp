// A comparison as a page.
#include <gtest/gtest.h>

#include "branchmark/compare/compare.hpp"
#include "branchmark/compare/comparison_html.hpp"
#include "lib/report/page_fixture.hpp"

namespace branchmark {
namespace {

Comparison compared(Report a, Report b) {
  std::vector<NamedReport> on_a, on_b;
  on_a.push_back({"a.json", std::move(a)});
  on_b.push_back({"b.json", std::move(b)});
  return compare(Side(std::move(on_a)), Side(std::move(on_b)), {});
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ComparisonPage, ShowsVerdictsWorstFirst) {
  auto b = test::bench_report(1.1);
  b.cases[2].digests = {std::string(64, 'f')};
  b.cases.pop_back();
  const auto comparison = compared(test::bench_report(), std::move(b));
  const auto page = html_text(comparison);
  for (const auto* part :
       {"check_failed", "B's time over A's", "Samples of both sides", "96 of 97",
        "outputs have the same bytes", "\u25b2", "missing", "Cases that are new, missing or renamed"})
    EXPECT_TRUE(has(page, part)) << part;
  const auto table = page.substr(page.find("Every case, worst first"));
  EXPECT_LT(table.find("slower"), table.find("> same<"));
  for (const auto& row : comparison.cases) EXPECT_TRUE(has(table, ">" + row.key + "</th>")) << row.key;
  EXPECT_EQ(page, html_text(comparison));
}

TEST(ComparisonPage, OfAReportWithItselfIsAllTheSame) {
  const auto page = html_text(compared(test::bench_report(), test::bench_report()));
  EXPECT_TRUE(has(page, "<strong>0</strong> <span>slower</span>"));
  EXPECT_FALSE(has(page, "\u25b2"));
}

TEST(ComparisonPage, TakesNothingForMarkup) {
  const auto page = html_text(compared(test::awkward_report(), test::awkward_report()));
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_TRUE(has(page, "&lt;script&gt;"));
  for (const auto* part : {"\"nan", "\"inf", ",nan", ",inf"}) EXPECT_FALSE(has(page, part)) << part;
}

}  // namespace
}  // namespace branchmark
