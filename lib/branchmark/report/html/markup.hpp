// Markup of the pages: HTML that is well-formed XML too. Text and attribute values become markup by escaping
// alone, so that nothing from elsewhere (a key, a message, a device's name) can be taken for an element.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace branchmark::html {

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

class Markup {
 public:
  Markup() = default;
  // Escapes.
  Markup(std::string_view text);  // NOLINT(google-explicit-constructor): text is content wherever markup is
  Markup(const std::string& text) : Markup(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  Markup(const char* text) : Markup(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)

  Markup& operator+=(const Markup& more) {
    text_ += more.text_;
    return *this;
  }
  bool empty() const noexcept { return text_.empty(); }
  const std::string& str() const noexcept { return text_; }

 private:
  friend Markup element(std::string_view name, const Attributes& attributes, const Markup& content);
  friend Markup style_element(std::string_view style);
  std::string text_;
};

inline Markup operator+(Markup one, const Markup& other) {
  return one += other;
}

// An attribute with an empty value is written as such. Elements that HTML knows as void, and those of SVG
// without content, close themselves.
Markup element(std::string_view name, const Attributes& attributes, const Markup& content = {});

// A style sheet, which HTML does not unescape and XML does: it must hold none of "<&".
Markup style_element(std::string_view style);

}  // namespace branchmark::html
