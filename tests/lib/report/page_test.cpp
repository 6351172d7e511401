// A report as a page: what is in it, and what may not be.
#include "branchmark/report/html/report_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "branchmark/report/html/page.hpp"
#include "branchmark/report/junit.hpp"
#include "lib/report/page_fixture.hpp"

namespace branchmark {
namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Page, HasVerdictAndEveryPicture) {
  const auto page = html_text(test::bench_report());
  for (const auto* part :
       {"inconclusive", "6 cases without a verdict", "One pass, by prompt length", "over forward&apos;s time",
        "Prefix 8,192, branches of 128 tokens", "How many times as fast as every prompt alone",
        "Stages of single passes", "Roofline", "product 800 TFLOP/s", "copy 4.00 TB/s",
        "Samples of single passes", "The power limit held the clocks back in 96 of 96 cases"}) {
    auto wanted = std::string(part);
    if (const auto at = wanted.find("&apos;"); at != std::string::npos) wanted.replace(at, 6, "'");
    EXPECT_TRUE(has(page, wanted)) << part;
  }
}

TEST(Page, ListsEveryCase) {
  const auto report = test::awkward_report();
  const auto page = html_text(report);
  const auto table = page.substr(page.find("Every case, worst first"));
  for (const auto& record : report.cases)
    EXPECT_TRUE(has(table, "<th scope=\"row\" class=\"text\">" + xml_escaped(record.key()) + "</th>"))
        << record.key();
  EXPECT_LT(table.find("fail"), table.find("invalid")) << "worst first";
}

TEST(Page, TablesHoldTheNumbersOfThePictures) {
  auto report = test::bench_report();
  for (auto& record : report.cases)
    if (record.key() == "single/tokens=38,entry=forward,gemm=default,graph=off,seed=1")
      record.metrics["device_ns"].samples.assign(10, 4.567e6);
  const auto page = html_text(report);
  const auto table = page.substr(page.find("Single passes, as numbers"));
  EXPECT_TRUE(has(page.substr(0, page.find("Single passes, as numbers")), "forward, 38 tokens: 4.57 ms"));
  EXPECT_TRUE(has(table.substr(0, table.find("</table>")), "4.57 ms"));
}

TEST(Page, MarksWhatIsNotValid) {
  auto report = test::bench_report();
  // Pictures of a section, and its table.
  const auto section = [](const Report& of, std::string_view title) {
    const auto page = html_text(of);
    const auto at = page.find("<h2>" + std::string(title));
    return page.substr(at, page.find("</section>", at) - at);
  };
  for (const auto* title : {"Single passes", "Shared prefix", "Roofline", "Samples"}) {
    const auto before = section(report, title);
    auto spoiled = report;
    for (auto& record : spoiled.cases) record.invalid_reasons = {"throttled"};
    const auto after = section(spoiled, title);
    EXPECT_GT(count(after, "mark hollow"), count(before, "mark hollow") + 5) << title;
    EXPECT_GT(count(after, " !<") + count(after, "</span> invalid"),
              count(before, " !<") + count(before, "</span> invalid") + 5)
        << title;
  }
}

TEST(Page, TakesNothingForMarkup) {
  const auto page = html_text(test::awkward_report());
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_GT(count(page, "&lt;script&gt;"), 10u) << "it is shown as text";
}

TEST(Page, NumbersThatAreNoneBreakNoPicture) {
  const auto page = html_text(test::awkward_report());
  const auto body = page.substr(page.find("<body>"));
  for (const auto* part : {"\"nan", "\"-nan", "\"inf", "\"-inf", ",nan", " nan", "inf,", ">nan", ">inf"})
    EXPECT_FALSE(has(body, part)) << part << body.substr(body.find(part) - 200, 300);
}

TEST(Page, NeedsNothingElse) {
  for (const auto& report : {test::bench_report(), test::awkward_report()}) {
    auto page = html_text(report);
    for (const std::string known : {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"})
      for (auto at = page.find(known); at != std::string::npos; at = page.find(known))
        page.erase(at, known.size());
    for (const auto* part :
         {"http:", "https:", "url(", "@import", "<link", "<iframe", "<object", " src=\"", " href="})
      EXPECT_FALSE(has(page, part)) << part;
    EXPECT_TRUE(has(page, "default-src 'none'"));
  }
}

TEST(Page, SameReportSameBytes) {
  EXPECT_EQ(html_text(test::awkward_report()), html_text(test::awkward_report()));
}

TEST(Page, OfAReportWithoutTimesHasCasesAndFindings) {
  Report report;
  report.command = "qualify";
  report.started_at = "2026-01-01T00:00:00.000Z";
  CaseRecord record;
  record.check = "gemm_rows";
  record.parameters = {{"n", 512}};
  record.outcome = Outcome::fail;
  record.findings = {{"bits_differ", Severity::error, "row 3 differs", "run it alone"}};
  report.cases = {record};
  const auto page = html_text(report);
  EXPECT_TRUE(has(page, "unfinished"));
  EXPECT_TRUE(has(page, "bits_differ"));
  EXPECT_TRUE(has(page, "<details open=\"open\"><summary>Every case, worst first"));
  EXPECT_FALSE(has(page, "<figure"));
}

TEST(Page, OfTwoBuildsShowsTheirRatios) {
  auto report = test::bench_report();
  report.kernels = KernelsInfo{.path = "a.so", .abi_version = 1, .build_id = "build a", .sha256 = ""};
  report.kernels_against = KernelsInfo{.path = "b.so", .abi_version = 1, .build_id = "build b", .sha256 = ""};
  CaseRecord pair;
  pair.check = "against";
  pair.parameters = {{"of", "single"}, {"tokens", 64}};
  pair.outcome = Outcome::pass;
  pair.metrics["device_ratio"] = {
      .unit = "1", .better = Better::lower, .samples = std::vector<double>(12, 1.25)};
  pair.findings = {{"outputs_changed", Severity::warning, "other bits", ""}};
  report.cases.push_back(pair);
  const auto page = html_text(report);
  EXPECT_TRUE(has(page, "Side a is build a; side b is build b."));
  const auto table = page.substr(page.find("Both sides, as numbers"));
  EXPECT_TRUE(has(table, "1.2500"));
  EXPECT_TRUE(has(table, "changed"));
}

// The weakest of WCAG's demands on text, 4.5, for all colours, as each is used for text somewhere.
TEST(Page, ColoursCanBeRead) {
  const std::string style(html::page_style());
  const auto colour = [&](const std::string& name, std::size_t from) {
    const auto at = style.find("--" + name + ": #", from);
    return std::stoul(style.substr(at + name.size() + 5, 6), nullptr, 16);
  };
  const auto luminance = [](unsigned long rgb) {
    const auto linear = [](unsigned long byte) {
      const double c = double(byte) / 255;
      return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(rgb >> 16 & 255) + 0.7152 * linear(rgb >> 8 & 255) + 0.0722 * linear(rgb & 255);
  };
  const auto contrast = [&](unsigned long one, unsigned long other) {
    const auto [low, high] = std::minmax({luminance(one), luminance(other)});
    return (high + 0.05) / (low + 0.05);
  };
  for (const std::size_t from : {style.find(":root"), style.find("prefers-color-scheme: dark")}) {
    ASSERT_NE(from, std::string::npos);
    for (const auto* name : {"text", "soft", "good", "bad", "doubtful", "s1", "s2", "s3", "s4", "s5", "s6"})
      for (const auto* ground : {"page", "card"})
        EXPECT_GE(contrast(colour(name, from), colour(ground, from)), 4.5) << name << " on " << ground;
    for (const auto* name : {"s1", "s2", "s3", "s4", "s5", "s6"})
      EXPECT_GE(contrast(colour(name, from), colour("on-mark", from)), 4.5) << "text on " << name;
  }
}

}  // namespace
}  // namespace branchmark
