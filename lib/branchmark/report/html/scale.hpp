// From values to places along an axis, and the values worth a tick.
#pragma once

#include <string>
#include <vector>

namespace branchmark::html {

enum class ScaleKind { linear, logarithmic };

// Maps [low, high] to [from, to], which may descend. Values outside are held at the ends, so that no mark
// leaves its picture.
class Scale {
 public:
  // `low` < `high`, both finite; above 0 where logarithmic.
  Scale(ScaleKind kind, double low, double high, double from, double to);

  double at(double value) const;
  double low() const noexcept { return low_; }
  double high() const noexcept { return high_; }
  ScaleKind kind() const noexcept { return kind_; }

 private:
  ScaleKind kind_;
  double low_;
  double high_;
  double from_;
  double to_;
};

// Whether a value has a place: finite, above 0 where logarithmic, and of a size that something measured can
// have (1e-30 to 1e30), beyond which a single one would leave no room for the others.
bool is_drawable(ScaleKind kind, double value);

struct Range {
  double low = 0;
  double high = 1;
};

// The range of the values that are drawable, with `margin` of it added on both
// sides. Never of no width; [0, 1] or [1, 10] where there is no such value.
Range range_of(const std::vector<double>& values, ScaleKind kind, double margin);

// Round values inside the scale's range, ascending: steps of 1, 2 or 5 times a power of ten; where
// logarithmic and wide, powers of ten, of which some are left out where there are more than `most`.
std::vector<double> round_ticks(const Scale& scale, std::size_t most);

struct Tick {
  double value = 0;
  std::string label;
};

// Those of the ticks (ascending) whose labels, `unit_width` a character, leave each other `gap`; the first
// and the last stay where they can.
std::vector<Tick> readable(const std::vector<Tick>& ticks, const Scale& scale, double unit_width, double gap);

}  // namespace branchmark::html
