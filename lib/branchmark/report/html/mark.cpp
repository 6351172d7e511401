#include "branchmark/report/html/mark.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "branchmark/report/html/number_text.hpp"

namespace branchmark::html {
namespace {

// Outlines around the origin, of about the same area: circle, square, triangle, diamond, cross, bar.
constexpr std::array<std::string_view, kNumStyles> kOutlines = {
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.5-3.5h7v7h-7z",
    "M0-4.6L4.4 3.4H-4.4z",
    "M0-5L4.6 0L0 5L-4.6 0z",
    "M-4.6-2.2L-2.2-4.6L0-2.4L2.2-4.6L4.6-2.2L2.4 0L4.6 2.2L2.2 4.6L0 2.4L-2.2 4.6L-4.6 2.2L-2.4 0z",
    "M0 4.6L4.4-3.4H-4.4z",
};

}  // namespace

std::string style_class(std::size_t style) {
  return fmt::format("s{}", style % kNumStyles + 1);
}

Markup mark(std::size_t style, Fill fill, double x, double y, const std::string& title) {
  // Past the number of colours, the shapes move on by one.
  const auto outline = kOutlines.at((style + style / kNumStyles) % kNumStyles);
  return element("path",
                 {{"class", style_class(style) + (fill == Fill::hollow ? " mark hollow" : " mark")},
                  {"transform", fmt::format("translate({} {})", coordinate(x), coordinate(y))},
                  {"d", std::string(outline)}},
                 title.empty() ? Markup() : element("title", {}, title));
}

Markup line(const std::string& css_class, double x1, double y1, double x2, double y2) {
  return element("line", {{"class", css_class},
                          {"x1", coordinate(x1)},
                          {"y1", coordinate(y1)},
                          {"x2", coordinate(x2)},
                          {"y2", coordinate(y2)}});
}

Markup rect(const std::string& css_class, double x, double y, double width, double height,
            const std::string& title) {
  return element("rect",
                 {{"class", css_class},
                  {"x", coordinate(x)},
                  {"y", coordinate(y)},
                  {"width", coordinate(width)},
                  {"height", coordinate(height)}},
                 title.empty() ? Markup() : element("title", {}, title));
}

Markup text_at(const std::string& css_class, double x, double y, Anchor anchor, const std::string& text) {
  constexpr std::array<std::string_view, 3> kAnchors = {"start", "middle", "end"};
  return element("text",
                 {{"class", css_class},
                  {"x", coordinate(x)},
                  {"y", coordinate(y)},
                  {"text-anchor", std::string(kAnchors.at(static_cast<std::size_t>(anchor)))}},
                 text);
}

Markup picture(double width, double height, const std::string& description, const Markup& content) {
  return element("svg",
                 {{"xmlns", "http://www.w3.org/2000/svg"},
                  {"viewBox", fmt::format("0 0 {} {}", coordinate(width), coordinate(height))},
                  {"role", "img"},
                  {"aria-label", description}},
                 content);
}

Markup legend(const std::vector<LegendEntry>& entries) {
  Markup items;
  for (const auto& entry : entries)
    items += element(
        "li", {},
        element(
            "svg",
            {{"xmlns", "http://www.w3.org/2000/svg"}, {"viewBox", "-7 -7 14 14"}, {"aria-hidden", "true"}},
            entry.sample == Sample::mark ? mark(entry.style, entry.fill, 0, 0, "")
                                         : rect(style_class(entry.style) + " part", -6, -6, 12, 12)) +
            element("span", {}, entry.text));
  return element("ul", {{"class", "legend"}}, items);
}

}  // namespace branchmark::html
