#include "branchmark/report/html/scale.hpp"

#include <algorithm>
#include <cmath>

#include "branchmark/report/html/number_text.hpp"

namespace branchmark::html {
namespace {

double transformed(ScaleKind kind, double value) {
  return kind == ScaleKind::logarithmic ? std::log10(value) : value;
}

// Multiples of a round step, of which at most `most` lie in the range.
std::vector<double> linear_ticks(double low, double high, std::size_t most) {
  const double least = (high - low) / static_cast<double>(most);
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least) {
      step = factor * power;
      break;
    }
  std::vector<double> ticks;
  const double first = std::ceil(low / step - 1e-9);
  for (std::size_t i = 0; i <= most + 1; ++i) {
    const double tick = (first + static_cast<double>(i)) * step + 0.0;  // no -0
    if (tick > high + 1e-9 * step) break;
    ticks.push_back(tick);
  }
  return ticks;
}

// Powers of ten times each of the factors.
std::vector<double> decade_ticks(double low, double high, const std::vector<double>& factors) {
  std::vector<double> ticks;
  const auto last = static_cast<int>(std::floor(std::log10(high)));
  for (auto exponent = static_cast<int>(std::floor(std::log10(low))); exponent <= last; ++exponent)
    for (const double factor : factors) {
      const double tick = factor * std::pow(10.0, exponent);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
    }
  return ticks;
}

}  // namespace

bool is_drawable(ScaleKind kind, double value) {
  constexpr double kMost = 1e30;
  return std::abs(value) <= kMost && (kind == ScaleKind::linear || value >= 1 / kMost);
}

Scale::Scale(ScaleKind kind, double low, double high, double from, double to)
    : kind_(kind), low_(low), high_(high), from_(from), to_(to) {}

double Scale::at(double value) const {
  const double low = transformed(kind_, low_);
  const double share =
      (transformed(kind_, std::clamp(value, low_, high_)) - low) / (transformed(kind_, high_) - low);
  return from_ + share * (to_ - from_);
}

Range range_of(const std::vector<double>& values, ScaleKind kind, double margin) {
  std::vector<double> kept;
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
               [kind](double value) { return is_drawable(kind, value); });
  if (kept.empty()) return kind == ScaleKind::logarithmic ? Range{1, 10} : Range{0, 1};
  const auto [least, most] = std::minmax_element(kept.begin(), kept.end());
  if (kind == ScaleKind::logarithmic) {
    const double width = std::max(std::log10(*most) - std::log10(*least), 0.1);
    return {*least * std::pow(10.0, -margin * width), *most * std::pow(10.0, margin * width)};
  }
  double width = *most - *least;
  if (!(width > 0)) width = std::max(std::abs(*most), 1e-9) * 0.1;
  return {*least - margin * width, *most + margin * width};
}

std::vector<double> round_ticks(const Scale& scale, std::size_t most) {
  if (scale.kind() == ScaleKind::linear) return linear_ticks(scale.low(), scale.high(), most);
  for (const auto& factors :
       {std::vector<double>{1, 2, 5}, std::vector<double>{1, 3}, std::vector<double>{1}}) {
    auto ticks = decade_ticks(scale.low(), scale.high(), factors);
    if (ticks.size() <= most && ticks.size() >= 2) return ticks;
  }
  auto ticks = decade_ticks(scale.low(), scale.high(), {1});
  // Within one step of 1, 2, 5 a logarithm is nearly straight.
  if (ticks.size() < 2) return linear_ticks(scale.low(), scale.high(), most);
  const auto stride = (ticks.size() + most - 1) / most;
  std::vector<double> some;
  for (std::size_t i = 0; i < ticks.size(); i += stride) some.push_back(ticks[i]);
  return some;
}

std::vector<Tick> readable(const std::vector<Tick>& ticks, const Scale& scale, double unit_width,
                           double gap) {
  const auto half = [&](const Tick& tick) {
    return 0.5 * unit_width * static_cast<double>(num_characters(tick.label));
  };
  const auto apart = [&](const Tick& one, const Tick& other) {
    return std::abs(scale.at(one.value) - scale.at(other.value)) >= half(one) + half(other) + gap;
  };
  std::vector<Tick> kept;
  for (const auto& tick : ticks)
    if (kept.empty() || apart(kept.back(), tick)) kept.push_back(tick);
  if (kept.size() > 1 && kept.back().value != ticks.back().value) {
    kept.back() = ticks.back();
    if (kept.size() > 2 && !apart(kept[kept.size() - 2], kept.back())) kept.erase(kept.end() - 2);
  }
  return kept;
}

}  // namespace branchmark::html
