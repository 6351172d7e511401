// Marks of pictures. A series is told apart by shape as well as by colour.
#pragma once

#include <cstddef>
#include <string>

#include "branchmark/report/html/markup.hpp"

namespace branchmark::html {

inline constexpr std::size_t kNumStyles = 6;

// Of a plot, in its own units.
inline constexpr double kPlotWidth = 400;
// Of a character, in the same units, at the size that a narrow screen shows.
inline constexpr double kCharacterWidth = 7.2;

// The style's colour, as a class of page.css: "s1" to "s6", and round again.
std::string style_class(std::size_t style);

// A style of this colour with the shape of another one.
constexpr std::size_t style_with(std::size_t colour, std::size_t shape) {
  return colour + kNumStyles * ((shape + kNumStyles - colour) % kNumStyles);
}

// What does not count (an invalid case) is hollow.
enum class Fill { solid, hollow };

// Centred at (x, y); `title` shows where a pointer rests.
Markup mark(std::size_t style, Fill fill, double x, double y, const std::string& title);

Markup line(const std::string& css_class, double x1, double y1, double x2, double y2);
Markup rect(const std::string& css_class, double x, double y, double width, double height,
            const std::string& title = {});

enum class Anchor { start, middle, end };
Markup text_at(const std::string& css_class, double x, double y, Anchor anchor, const std::string& text);

// A picture of this size in its own units; it fills the width it is given. `description` is what a screen
// reader says of it.
Markup picture(double width, double height, const std::string& description, const Markup& content);

enum class Sample { mark, area };
struct LegendEntry {
  std::size_t style = 0;
  Fill fill = Fill::solid;
  std::string text;
  Sample sample = Sample::mark;
};
Markup legend(const std::vector<LegendEntry>& entries);

}  // namespace branchmark::html
