// A picture with one row a case: the label above what is drawn, so that a long one has room on a phone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "branchmark/base/statistics.hpp"
#include "branchmark/report/html/plot.hpp"

namespace branchmark::html {

struct PlotRow {
  std::string label;
  std::string title;  // in full, where a pointer rests
  std::string value;  // at the end of the row
  // Draws around the row's middle.
  std::function<Markup(const Scale& x, double middle)> marks;
  double height = 14;  // of what is drawn
};

struct RowPlot {
  std::string title;
  std::string note;
  Axis x;  // with a range
  std::vector<PlotRow> rows;
  // Values on the axis drawn over all rows: [low, high] shaded, and a line.
  std::optional<Interval> band = {};
  std::optional<double> zero = {};
  std::vector<LegendEntry> legend = {};
  std::size_t num_left_out = 0;  // rows that there was no room for
};

Markup draw(const RowPlot& plot);

struct Part {
  std::size_t style = 0;
  std::string name;
  double share = 0;
};
// Parts side by side, each with its name where it has room. Shares that are not finite or not above 0 are
// left out.
Markup stacked_bar(const std::vector<Part>& parts, const Scale& x, double middle);

// Samples (ascending, not empty, in the axis' units) as dots; below them the range from p10 to p90, the 95%
// interval of the median and the median.
Markup strip(const std::vector<double>& sorted, std::size_t style, Fill fill, const Scale& x, double middle);

// A value with its interval.
Markup interval_mark(double value, const std::optional<Interval>& interval, std::size_t style, Fill fill,
                     const Scale& x, double middle, const std::string& title);

}  // namespace branchmark::html
