// Writing. Numbers go through std::to_chars, which knows no locale and gives the shortest text that reads
// back as the same value.
#include <charconv>
#include <cmath>
#include <cstdint>

#include "branchmark/base/json.hpp"

namespace branchmark {
namespace {

// Length of the valid UTF-8 sequence at the start of `text` (not empty), 0 where there is none: no overlong
// forms, no surrogates, nothing past U+10FFFF.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return continues(1) ? 2 : 0;
  if (first < 0xf0) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) > 0x9f) return 0;
    return 3;
  }
  if (first > 0xf4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return 4;
}

void append_quoted(std::string& out, std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      out += {'\\', static_cast<char>(c)};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c < 0x20 || c == 0x7f) {
      out += {'\\', 'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]};
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

template <class Integer>
void append_integer(std::string& out, Integer value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_double(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[40];
  const std::string_view text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr - digits);
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

class Writer {
 public:
  Writer(JsonStyle style, const JsonSink& sink) : indented_(style == JsonStyle::indented), sink_(sink) {}

  void value(const Json& json, int depth) {
    switch (json.type()) {
      case Json::value_t::object:
        object(json, depth);
        break;
      case Json::value_t::array:
        array(json, depth);
        break;
      case Json::value_t::string:
        append_quoted(out_, json.get_ref<const std::string&>());
        break;
      case Json::value_t::boolean:
        out_ += json.get<bool>() ? "true" : "false";
        break;
      case Json::value_t::number_integer:
        append_integer(out_, json.get<std::int64_t>());
        break;
      case Json::value_t::number_unsigned:
        append_integer(out_, json.get<std::uint64_t>());
        break;
      case Json::value_t::number_float:
        append_double(out_, json.get<double>());
        break;
      case Json::value_t::null:
      case Json::value_t::binary:
      case Json::value_t::discarded:
        out_ += "null";
        break;
    }
    if (out_.size() > 1 << 16) flush();
  }

  void flush() {
    sink_(out_);
    out_.clear();
  }

 private:
  void break_line(int depth) {
    if (!indented_) return;
    out_ += '\n';
    out_.append(2 * static_cast<std::size_t>(depth), ' ');
  }

  void object(const Json& json, int depth) {
    out_ += '{';
    bool first = true;
    for (const auto& [key, member] : json.items()) {
      if (!first) out_ += ',';
      first = false;
      break_line(depth + 1);
      append_quoted(out_, key);
      out_ += indented_ ? ": " : ":";
      value(member, depth + 1);
    }
    if (!first) break_line(depth);
    out_ += '}';
  }

  void array(const Json& json, int depth) {
    bool numbers = true;
    for (const Json& item : json) numbers = numbers && (item.is_number() || item.is_null());
    out_ += '[';
    bool first = true;
    for (const Json& item : json) {
      if (!first) out_ += indented_ && numbers ? ", " : ",";
      first = false;
      if (!numbers) break_line(depth + 1);
      value(item, depth + 1);
    }
    if (!first && !numbers) break_line(depth);
    out_ += ']';
  }

  bool indented_;
  const JsonSink& sink_;
  std::string out_;
};

}  // namespace

void write_json(const Json& value, JsonStyle style, const JsonSink& sink, int depth) {
  Writer writer(style, sink);
  writer.value(value, depth);
  writer.flush();
}

std::string json_text(const Json& value, JsonStyle style) {
  std::string text;
  write_json(value, style, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string json_quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0)
      out += "\xef\xbf\xbd";
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace branchmark
