#include "branchmark/report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/base/json.hpp"

namespace branchmark {
namespace {

std::string percent_encoded(const std::string& text, std::string_view also) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || byte < 0x20 || byte == 0x7f || also.find(c) != std::string_view::npos)
      out += fmt::format("%{:02X}", byte);
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string out = valid_utf8(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

std::string markdown_escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (std::string_view("\\`*_[]|~#@").find(c) != std::string_view::npos)
      out += {'\\', c};
    else
      out += c;
  }
  return out;
}

std::string github_command(std::string_view name, const std::string& title, const std::string& message) {
  return fmt::format("::{} title={}::{}\n", name, percent_encoded(title, ":,"), percent_encoded(message, ""));
}

}  // namespace branchmark
