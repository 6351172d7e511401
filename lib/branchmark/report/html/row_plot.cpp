#include "branchmark/report/html/row_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "branchmark/report/html/number_text.hpp"

namespace branchmark::html {
namespace {

constexpr double kRowsLeft = 4;
constexpr double kRowsRight = 334;  // values stand right of it
constexpr double kLabel = 19;       // height of a label's line
constexpr double kGap = 9;
constexpr std::size_t kManyRows = 10;
constexpr std::size_t kLabelCharacters = 62;

// A share of a dot's row, by its index alone: the fractional part of multiples of the golden ratio spreads
// neighbours as far as may be (a low-discrepancy sequence).
double spread_of(std::size_t index) {
  constexpr double kGolden = 0.6180339887498949;
  const double place = kGolden * static_cast<double>(index + 1);
  return place - std::floor(place);
}

// Ticks at both ends, as a picture of many rows is longer than a screen.
Markup axis_of(const RowPlot& plot, const Scale& x, double top, double bottom) {
  Markup out;
  std::vector<Tick> ticks;
  for (const double value : plot.x.at.empty() ? round_ticks(x, 6) : plot.x.at)
    ticks.push_back({value, without_trailing_zeros(plot.x.text(value))});
  for (const auto& tick : ticks) out += line("grid", x.at(tick.value), top, x.at(tick.value), bottom);
  for (const auto& tick : readable(ticks, x, kCharacterWidth, 6)) {
    // The first may not leave the picture.
    const double half = 0.5 * kCharacterWidth * static_cast<double>(num_characters(tick.label));
    const double place = std::max(x.at(tick.value), half + 4);
    out += text_at("tick", place, bottom + 15, Anchor::middle, tick.label);
    if (plot.rows.size() > kManyRows) out += text_at("tick", place, top - 5, Anchor::middle, tick.label);
  }
  out += line("axis", kRowsLeft, bottom, kRowsRight, bottom);
  out += text_at("axis-title", kRowsRight, bottom + 32, Anchor::end, plot.x.title);
  return out;
}

}  // namespace

Markup draw(const RowPlot& plot) {
  const auto range = plot.x.range.value_or(Range{});
  const Scale x(plot.x.kind, range.low, range.high, kRowsLeft, kRowsRight);
  const double top = plot.rows.size() > kManyRows ? 20 : 2;
  double bottom = top;
  for (const auto& row : plot.rows) bottom += kLabel + row.height + kGap;
  Markup content;
  if (plot.band)
    content +=
        rect("band", x.at(plot.band->low), top, x.at(plot.band->high) - x.at(plot.band->low), bottom - top);
  content += axis_of(plot, x, top, bottom);
  if (plot.zero) content += line("zero", x.at(*plot.zero), top, x.at(*plot.zero), bottom);
  double place = top;
  for (const auto& row : plot.rows) {
    const double middle = place + kLabel + row.height / 2;
    content += element("g", {},
                       (row.title.empty() ? Markup() : element("title", {}, row.title)) +
                           text_at("row-label", kRowsLeft, place + 13, Anchor::start,
                                   shortened(row.label, kLabelCharacters)) +
                           row.marks(x, middle) +
                           text_at("row-value", kPlotWidth - 2, middle + 4, Anchor::end, row.value)) +
               "\n";
    place += kLabel + row.height + kGap;
  }
  auto inside = plot.legend.empty() ? Markup() : legend(plot.legend);
  inside += picture(kPlotWidth, bottom + 38,
                    fmt::format("{}: {}. The numbers are in the tables.", plot.title, plot.x.title), content);
  if (plot.num_left_out > 0)
    inside += element("p", {{"class", "note"}}, fmt::format("{} more are in the table.", plot.num_left_out));
  return figure(plot.title, plot.note, inside);
}

Markup stacked_bar(const std::vector<Part>& parts, const Scale& x, double middle) {
  constexpr double kBar = 16;
  Markup out;
  double from = 0;
  for (const auto& part : parts) {
    if (!(part.share > 0) || !std::isfinite(part.share)) continue;
    const double left = x.at(from);
    const double width = x.at(from + part.share) - left;
    const auto whole = fmt::format("{} {}", part.name, percent_text(part.share));
    const auto share = percent_text(part.share);
    out += rect(style_class(part.style) + " part", left, middle - kBar / 2, width, kBar, whole);
    const auto fits = [&](const std::string& text) {
      return kCharacterWidth * static_cast<double>(num_characters(text)) + 4 <= width;
    };
    if (fits(share))
      out += text_at("part-label", left + width / 2, middle + 4, Anchor::middle, fits(whole) ? whole : share);
    from += part.share;
  }
  return out;
}

Markup strip(const std::vector<double>& sorted, std::size_t style, Fill fill, const Scale& x, double middle) {
  constexpr double kDots = 7;  // height of the dots' band
  const auto css = style_class(style);
  Markup out;
  std::string dots;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    dots +=
        fmt::format("M{} {}h0", coordinate(x.at(sorted[i])), coordinate(middle - 9 + kDots * spread_of(i)));
  out += element("path", {{"class", css + " dots"}, {"d", dots}});
  const double base = middle + 4;
  out += line(css + " spread", x.at(quantile(sorted, 0.1)), base, x.at(quantile(sorted, 0.9)), base);
  if (const auto interval = median_interval(sorted))
    out += line(css + " interval", x.at(interval->low), base, x.at(interval->high), base);
  return out + mark(style, fill, x.at(quantile(sorted, 0.5)), base, "");
}

Markup interval_mark(double value, const std::optional<Interval>& interval, std::size_t style, Fill fill,
                     const Scale& x, double middle, const std::string& title) {
  Markup out;
  if (interval)
    out += line(style_class(style) + " whisker", x.at(interval->low), middle, x.at(interval->high), middle);
  return out + mark(style, fill, x.at(value), middle, title);
}

}  // namespace branchmark::html
