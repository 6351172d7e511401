// What pages are built of.
#include <gtest/gtest.h>

#include <cmath>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/mark.hpp"
#include "branchmark/report/html/markup.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/row_plot.hpp"
#include "branchmark/report/html/scale.hpp"

namespace branchmark::html {
namespace {

TEST(Markup, EscapesTextAndAttributesOnce) {
  EXPECT_EQ(element("p", {{"title", "\"<&>"}}, "<b>&").str(),
            "<p title=\"&quot;&lt;&amp;&gt;\">&lt;b&gt;&amp;</p>");
  EXPECT_EQ(element("p", {}, element("b", {}, "x") + " & y").str(), "<p><b>x</b> &amp; y</p>");
  EXPECT_EQ(element("br", {}).str(), "<br/>");
  EXPECT_EQ(element("td", {}).str(), "<td></td>");
}

TEST(Mark, AStyleMayHaveTheShapeOfAnother) {
  const auto shape = [](std::size_t style) {
    const auto text = mark(style, Fill::solid, 0, 0, "").str();
    return text.substr(text.find(" d="));
  };
  for (std::size_t i = 0; i < kNumStyles; ++i)
    for (std::size_t j = 0; j < kNumStyles; ++j) {
      EXPECT_EQ(style_class(style_with(i, j)), style_class(i)) << i << " " << j;
      EXPECT_EQ(shape(style_with(i, j)), shape(j)) << i << " " << j;
      EXPECT_EQ(shape(i) == shape(j), i == j) << i << " " << j;
    }
}

TEST(Scale, MapsEndsAndHoldsWhatIsOutside) {
  const Scale falling(ScaleKind::linear, 0, 10, 100, 0);
  EXPECT_DOUBLE_EQ(falling.at(0), 100);
  EXPECT_DOUBLE_EQ(falling.at(2.5), 75);
  EXPECT_DOUBLE_EQ(falling.at(1e9), 0);
  const Scale decades(ScaleKind::logarithmic, 1, 1000, 0, 300);
  EXPECT_NEAR(decades.at(10), 100, 1e-9);
  EXPECT_DOUBLE_EQ(decades.at(-5), 0);
}

TEST(Scale, RangeIsNeverEmptyNorOfWhatIsNoNumber) {
  const auto one = range_of({5, 5}, ScaleKind::linear, 0.1);
  EXPECT_LT(one.low, 5);
  EXPECT_GT(one.high, 5);
  for (const auto kind : {ScaleKind::linear, ScaleKind::logarithmic}) {
    const auto none = range_of({NAN, INFINITY}, kind, 0.1);
    EXPECT_LT(none.low, none.high);
  }
  EXPECT_LT(range_of({1, 1e300, 2}, ScaleKind::logarithmic, 0.1).high, 10);
  EXPECT_GT(range_of({0, -1, 3}, ScaleKind::logarithmic, 0.1).low, 0);
}

TEST(Scale, TicksAreRoundAndFew) {
  using Values = std::vector<double>;
  EXPECT_EQ(round_ticks(Scale(ScaleKind::linear, 0, 1, 0, 1), 6),
            (Values{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(round_ticks(Scale(ScaleKind::logarithmic, 3, 150, 0, 1), 7), (Values{5, 10, 20, 50, 100}));
  EXPECT_EQ(round_ticks(Scale(ScaleKind::logarithmic, 1, 5000, 0, 1), 8),
            (Values{1, 3, 10, 30, 100, 300, 1000, 3000}));
  EXPECT_EQ(round_ticks(Scale(ScaleKind::logarithmic, 1, 1e12, 0, 1), 5).size(), 5u);
  const auto close = round_ticks(Scale(ScaleKind::logarithmic, 0.97, 1.06, 0, 1), 6);
  EXPECT_GE(close.size(), 3u);
  EXPECT_LE(close.size(), 6u);
  EXPECT_LE(round_ticks(Scale(ScaleKind::linear, 1e20, 1e20 + 1e5, 0, 1), 6).size(), 8u)
      << "steps below the last bit";
  EXPECT_FALSE(std::signbit(round_ticks(Scale(ScaleKind::linear, 0, 3, 0, 1), 5).front()));
}

TEST(Scale, LabelsThatWouldTouchAreLeftOut) {
  const Scale scale(ScaleKind::linear, 0, 100, 0, 100);
  const std::vector<Tick> ticks = {{0, "000"}, {5, "005"}, {50, "050"}, {95, "095"}, {100, "100"}};
  std::vector<double> kept;
  for (const auto& tick : readable(ticks, scale, 6, 2)) kept.push_back(tick.value);
  EXPECT_EQ(kept, (std::vector<double>{0, 50, 100}));
}

TEST(NumberText, IsShort) {
  EXPECT_EQ(time_text(5.9837e6), "5.98 ms");
  EXPECT_EQ(time_text(999.9e6), "1.00 s");
  EXPECT_EQ(time_text(640.2e6), "640 ms");
  EXPECT_EQ(time_text(12), "12.0 ns");
  EXPECT_EQ(time_text(3.6e12), "3600 s");
  EXPECT_EQ(time_text(NAN), "-");
  EXPECT_EQ(si_text(7.7978e14, "FLOP/s"), "780 TFLOP/s");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-999), "-999");
  EXPECT_EQ(percent_text(0.7388), "74%");
  EXPECT_EQ(percent_text(0.0131), "1.3%");
  EXPECT_EQ(change_text(-0.0004), "0%");
  EXPECT_EQ(change_text(0.0526), "+5.3%");
  EXPECT_EQ(ratio_text(20.196), "20.2");
  EXPECT_EQ(without_trailing_zeros("20.0 ms"), "20 ms");
  EXPECT_EQ(without_trailing_zeros("0.50"), "0.5");
  EXPECT_EQ(without_trailing_zeros("100%"), "100%");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(NAN), "0");
}

TEST(NumberText, ShorteningCutsNoCharacter) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefgh", 5), "ab\u2026gh");
  EXPECT_EQ(shortened("\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5", 4), "\u00b5\u00b5\u2026\u00b5");
}

CaseRecord named(std::string check, Parameters parameters) {
  CaseRecord record;
  record.check = std::move(check);
  record.parameters = std::move(parameters);
  return record;
}

TEST(ShortLabels, SayWhatTellsCasesApart) {
  const auto one = named("single", {{"tokens", 64}, {"entry", "forward"}, {"gemm", "default"}, {"seed", 1}});
  const auto two =
      named("single", {{"tokens", 64}, {"entry", "forward_fixed"}, {"gemm", "fixed"}, {"seed", 1}});
  const auto three =
      named("single", {{"tokens", 256}, {"entry", "forward_fixed"}, {"gemm", "fixed"}, {"seed", 1}});
  EXPECT_EQ(short_labels(Cases{&one, &two, &three}),
            (std::vector<std::string>{"tokens 64 \u00b7 forward", "tokens 64 \u00b7 forward fixed",
                                      "tokens 256 \u00b7 forward fixed"}));
  const auto other = named("shared", {{"tokens", 64}, {"entry", "forward"}});
  EXPECT_EQ(short_labels(Cases{&one, &other}), (std::vector<std::string>{"single", "shared"}));
}

TEST(WorstFirst, FailuresThenDoubtsThenWidth) {
  auto good = named("c", {{"i", 0}});
  good.outcome = Outcome::pass;
  auto wide = good, invalid = good, failed = good;
  good.metrics["t"] = {.unit = "ns", .samples = std::vector<double>(10, 1.0)};
  wide.metrics["t"] = {.unit = "ns", .samples = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  invalid.invalid_reasons = {"throttled"};
  failed.outcome = Outcome::fail;
  EXPECT_EQ(worst_first({&good, &wide, &invalid, &failed}, "t"), (Cases{&failed, &invalid, &wide, &good}));
}

TEST(Marks, StackedBarLeavesOutWhatIsNoShare) {
  const Scale x(ScaleKind::linear, 0, 1, 0, 100);
  const auto bar =
      stacked_bar({{0, "one", 0.25}, {1, "none", NAN}, {2, "less", -1}, {3, "two", 0.75}}, x, 10).str();
  EXPECT_NE(bar.find("x=\"25\" y=\"2\" width=\"75\""), std::string::npos) << bar;
  EXPECT_EQ(bar.find("none"), std::string::npos);
  EXPECT_EQ(bar.find("less"), std::string::npos);
}

}  // namespace
}  // namespace branchmark::html
