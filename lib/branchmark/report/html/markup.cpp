#include "branchmark/report/html/markup.hpp"

#include <algorithm>
#include <array>

#include "branchmark/report/junit.hpp"

namespace branchmark::html {
namespace {

// What HTML lets close itself: its void elements, and SVG's, where any may.
constexpr std::array<std::string_view, 10> kSelfClosing = {"br",   "meta", "link",    "path",     "line",
                                                           "rect", "use",  "polygon", "polyline", "circle"};

}  // namespace

Markup::Markup(std::string_view text) : text_(xml_escaped(std::string(text))) {}

Markup element(std::string_view name, const Attributes& attributes, const Markup& content) {
  Markup out;
  out.text_ = "<" + std::string(name);
  for (const auto& [key, value] : attributes)
    out.text_ += " " + std::string(key) + "=\"" + xml_escaped(value) + "\"";
  if (content.empty() && std::find(kSelfClosing.begin(), kSelfClosing.end(), name) != kSelfClosing.end()) {
    out.text_ += "/>";
    return out;
  }
  out.text_ += ">" + content.text_ + "</" + std::string(name) + ">";
  return out;
}

Markup style_element(std::string_view style) {
  Markup out;
  out.text_ = "<style>\n" + std::string(style) + "</style>";
  return out;
}

}  // namespace branchmark::html
