// A picture of points over two axes, with lines through them, their intervals and reference lines.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "branchmark/base/statistics.hpp"
#include "branchmark/report/html/mark.hpp"
#include "branchmark/report/html/scale.hpp"

namespace branchmark::html {

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval;  // of y
  Fill fill = Fill::solid;
  std::string title;
};

struct Series {
  std::string name;
  std::size_t style = 0;
  std::vector<PlotPoint> points;  // in the order in which the line goes
  bool joined = true;
};

struct Axis {
  std::string title;
  ScaleKind kind = ScaleKind::linear;
  std::string (*text)(double) = nullptr;  // of a tick
  std::vector<double> at = {};            // where ticks are; empty: round values
  std::optional<Range> range = {};        // empty: that of the points
};

// Values that points are held against: a ceiling, a ratio of 1.
enum class LabelPlace { above_the_end, beside_the_middle };
struct ReferenceLine {
  std::vector<std::pair<double, double>> through;
  std::string label;
  LabelPlace place = LabelPlace::above_the_end;
};

struct Plot {
  std::string title;
  std::string note;  // below the title; may be empty
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<ReferenceLine> references = {};
};

// A figure with title, legend and picture.
Markup draw(const Plot& plot);

// A figure's frame around what a picture shows.
Markup figure(const std::string& title, const std::string& note, const Markup& content);

}  // namespace branchmark::html
