#include "branchmark/report/html/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace branchmark::html {
namespace {

constexpr std::string_view kUnknown = "-";

constexpr std::array<std::string_view, 14> kPrefixes = {"n", "\u00b5", "m", "",  "k", "M", "G",
                                                        "T", "P",      "E", "Z", "Y", "R", "Q"};
constexpr std::size_t kNone = 3;  // the place of no prefix

// `value` counts units with kPrefixes[prefix]; the result has at most kPrefixes[largest].
std::string prefixed(double value, std::string_view unit, std::size_t prefix, std::size_t largest) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  // Rounded first: 999.7 has three digits of the next prefix.
  while (std::abs(value) >= 999.5 && prefix < largest) {
    value /= 1000;
    ++prefix;
  }
  while (std::abs(value) < 0.9995 && value != 0 && prefix > 0) {
    value *= 1000;
    --prefix;
  }
  return fmt::format("{} {}{}", significant(value), kPrefixes.at(prefix), unit);
}

}  // namespace

std::string significant(double value) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e7) return fmt::format("{:.2e}", value);
  const int digits = std::clamp(2 - static_cast<int>(std::floor(std::log10(size * 1.0005))), 0, 6);
  return fmt::format("{:.{}f}", value, digits);
}

std::string time_text(double ns) {
  return ns == 0 ? "0 s" : prefixed(ns, "s", 0, kNone);
}

std::string si_text(double value, std::string_view unit) {
  return value == 0 ? fmt::format("0 {}", unit) : prefixed(value, unit, kNone, kPrefixes.size() - 1);
}

std::string count_text(double value) {
  if (!std::isfinite(value) || std::abs(value) >= 1e15) return significant(value);
  std::string text = fmt::format("{:.0f}", std::abs(value));
  for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > 0; place -= 3)
    text.insert(static_cast<std::size_t>(place), ",");
  return (value < 0 ? "-" : "") + text;
}

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return std::string(kUnknown);
  return std::abs(ratio) < 9.995 ? fmt::format("{:.2f}", ratio) : significant(ratio);
}

std::string percent_text(double share) {
  return std::abs(share) < 1e7 ? fmt::format("{:.{}f}%", 100 * share, std::abs(share) < 0.0995 ? 1 : 0)
                               : std::string(kUnknown);
}

std::string change_text(double share) {
  if (!(std::abs(share) < 1e7)) return std::string(kUnknown);
  const int digits = std::abs(share) < 0.0995 ? 1 : 0;
  const auto text = fmt::format("{:+.{}f}%", 100 * share, digits);
  return text == "-0.0%" || text == "+0.0%" ? "0%" : text;
}

std::string value_text(double value, std::string_view unit) {
  if (unit == "ns") return time_text(value);
  if (unit == "bytes") return si_text(value, "B");
  if (unit == "bytes/s") return si_text(value, "B/s");
  if (unit == "J" || unit == "W") return si_text(value, unit);
  if (unit == "1" || unit.empty())
    return std::abs(value) >= 1e6       ? si_text(value, "")
           : value == std::floor(value) ? count_text(value)
                                        : fmt::format("{:.4g}", value);
  const auto number = value == std::floor(value) ? count_text(value) : significant(value);
  return number == kUnknown ? number : fmt::format("{} {}", number, unit == "degC" ? "\u00b0C" : unit);
}

std::string without_trailing_zeros(const std::string& text) {
  const auto point = text.find('.');
  if (point == std::string::npos) return text;
  const auto end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
  const auto last = text.find_last_not_of('0', end - 1);
  return text.substr(0, last == point ? point : last + 1) + text.substr(end);
}

std::string coordinate(double value) {
  const auto text = without_trailing_zeros(fmt::format("{:.2f}", std::isfinite(value) ? value : 0.0));
  return text == "-0" ? "0" : text;
}

std::size_t num_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (num_characters(text) <= most) return text;
  const auto keep = (most - 1) / 2;
  // Places of the characters' first bytes, so that none is cut.
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((text[i] & 0xc0) != 0x80) starts.push_back(i);
  return text.substr(0, starts[most - 1 - keep]) + "\u2026" + text.substr(starts[starts.size() - keep]);
}

}  // namespace branchmark::html
