#include "branchmark/report/html/plot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/report/html/number_text.hpp"

namespace branchmark::html {
namespace {

constexpr double kHeight = 262;
constexpr double kLeft = 58;
constexpr double kRight = 390;
constexpr double kTop = 28;
constexpr double kBottom = 220;

bool drawable(const Plot& plot, const PlotPoint& point) {
  return is_drawable(plot.x.kind, point.x) && is_drawable(plot.y.kind, point.y);
}

Scale scale_of(const Axis& axis, const std::vector<double>& values, double from, double to) {
  const auto range = axis.range.value_or(range_of(values, axis.kind, 0.06));
  return {axis.kind, range.low, range.high, from, to};
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(plot),
        x_(scale_of(plot.x, values(&PlotPoint::x, false), kLeft + 6, kRight - 6)),
        y_(scale_of(plot.y, values(&PlotPoint::y, true), kBottom, kTop)) {}

  Markup content() const {
    Markup out = axes();
    for (const auto& reference : plot_.references) out += reference_line(reference);
    for (const auto& series : plot_.series) out += lines(series);
    for (const auto& series : plot_.series) out += marks(series);
    return out;
  }

 private:
  std::vector<double> values(double PlotPoint::*member, bool with_interval) const {
    std::vector<double> found;
    for (const auto& series : plot_.series)
      for (const auto& point : series.points)
        if (drawable(plot_, point)) {
          found.push_back(point.*member);
          if (with_interval && point.interval) {
            found.push_back(point.interval->low);
            found.push_back(point.interval->high);
          }
        }
    return found;
  }

  static std::vector<Tick> ticks(const Axis& axis, const Scale& scale, std::size_t most) {
    std::vector<Tick> out;
    for (const double value : axis.at.empty() ? round_ticks(scale, most) : axis.at)
      out.push_back({value, without_trailing_zeros(axis.text(value))});
    return out;
  }

  Markup axes() const {
    Markup out;
    for (const auto& tick : ticks(plot_.y, y_, 7)) {
      const double y = y_.at(tick.value);
      out += line("grid", kLeft, y, kRight, y);
      out += text_at("tick", kLeft - 6, y + 4, Anchor::end, tick.label);
    }
    const auto all = ticks(plot_.x, x_, 7);
    for (const auto& tick : all)
      out += line("grid", x_.at(tick.value), kBottom, x_.at(tick.value), kBottom + 4);
    for (const auto& tick : readable(all, x_, kCharacterWidth, 6))
      out += text_at("tick", x_.at(tick.value), kBottom + 17, Anchor::middle, tick.label);
    out += line("axis", kLeft, kBottom, kRight, kBottom);
    out += text_at("axis-title", 2, 14, Anchor::start, plot_.y.title);
    out += text_at("axis-title", kRight, kBottom + 36, Anchor::end, plot_.x.title);
    return out;
  }

  Markup reference_line(const ReferenceLine& reference) const {
    if (reference.through.empty()) return {};
    std::string points;
    for (const auto& [x, y] : reference.through)
      points += fmt::format("{}{},{}", points.empty() ? "" : " ", coordinate(x_.at(x)), coordinate(y_.at(y)));
    auto drawn = element("polyline", {{"class", "reference"}, {"points", points}});
    if (reference.label.empty()) return drawn;
    const double x = x_.at(reference.through.back().first);
    const double y = y_.at(reference.through.back().second);
    if (reference.place == LabelPlace::above_the_end)
      return drawn + text_at("reference-label", x, y - 5, Anchor::end, reference.label);
    return drawn + text_at("reference-label", (x_.at(reference.through.front().first) + x) / 2 + 8,
                           (y_.at(reference.through.front().second) + y) / 2 + 12, Anchor::start,
                           reference.label);
  }

  Markup lines(const Series& series) const {
    std::string points;
    for (const auto& point : series.points)
      if (drawable(plot_, point))
        points += fmt::format("{}{},{}", points.empty() ? "" : " ", coordinate(x_.at(point.x)),
                              coordinate(y_.at(point.y)));
    if (!series.joined || points.find(' ') == std::string::npos) return {};
    return element("polyline", {{"class", style_class(series.style) + " join"}, {"points", points}});
  }

  Markup marks(const Series& series) const {
    Markup out;
    for (const auto& point : series.points) {
      if (!drawable(plot_, point)) continue;
      const double x = x_.at(point.x);
      if (point.interval)
        out += line(style_class(series.style) + " whisker", x, y_.at(point.interval->low), x,
                    y_.at(point.interval->high));
      out += mark(series.style, point.fill, x, y_.at(point.y), point.title);
    }
    return out;
  }

  const Plot& plot_;
  Scale x_;
  Scale y_;
};

std::vector<LegendEntry> legend_of(const Plot& plot) {
  std::vector<LegendEntry> entries;
  bool hollow = false;
  for (const auto& series : plot.series) {
    entries.push_back({series.style, Fill::solid, series.name});
    hollow = hollow || std::any_of(series.points.begin(), series.points.end(),
                                   [](const auto& point) { return point.fill == Fill::hollow; });
  }
  if (hollow) entries.push_back({kNumStyles - 1, Fill::hollow, "hollow: not valid"});
  return entries;
}

}  // namespace

Markup figure(const std::string& title, const std::string& note, const Markup& content) {
  auto caption = element("h3", {}, title);
  if (!note.empty()) caption += element("p", {}, note);
  return element("figure", {}, element("figcaption", {}, caption) + content) + "\n";
}

Markup draw(const Plot& plot) {
  const auto description =
      fmt::format("{}: {} by {}. The numbers are in the tables.", plot.title, plot.y.title, plot.x.title);
  return figure(plot.title, plot.note,
                legend(legend_of(plot)) + picture(kPlotWidth, kHeight, description, Drawing(plot).content()));
}

}  // namespace branchmark::html
