#include "branchmark/base/json.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

// Builds the value while the parser reports its parts, knowing the JSON pointer at every moment.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Frame& frame = frames_.back();
    frame.key = name;
    frame.has_key = true;
    if (frame.container->contains(name))
      refuse(fmt::format("duplicate key {}, expected each key once", json_quoted(name)));
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...", where the parser's own place
    // is one past the character that it could not take.
    std::string_view what = error.what();
    for (const std::string_view before : {"] ", "parse error at "})
      if (const auto at = what.find(before); at != std::string_view::npos)
        what.remove_prefix(at + before.size());
    if (const auto at = what.find(": "); what.starts_with("line ") && at != std::string_view::npos)
      what.remove_prefix(at + 2);
    // It quotes what it last read, as it stands in the input.
    constexpr std::size_t kLongest = 240;
    const std::string_view read = text_.substr(0, position == 0 ? 0 : position - 1);
    const auto line_start = read.rfind('\n') + 1;
    refuse(fmt::format("line {}, column {}: {}", std::count(read.begin(), read.end(), '\n') + 1,
                       read.size() - line_start + 1,
                       valid_utf8(what.substr(0, kLongest)) + (what.size() > kLongest ? "..." : "")));
  }

 private:
  struct Frame {
    Json* container;
    std::string key;
    bool has_key = false;
  };

  [[noreturn]] void refuse(const std::string& message) const {
    std::string pointer;
    for (const Frame& frame : frames_) {
      // The element of an array that is being read is in it only once it has been opened.
      const std::size_t size = frame.container->size();
      if (frame.container->is_array())
        pointer += fmt::format("/{}", &frame == &frames_.back() ? size : size - 1);
      else if (frame.has_key)
        pointer += "/" + frame.key;
    }
    throw Error(ErrorCode::usage, fmt::format("{}: {}: {}", origin_,
                                              pointer.empty() ? "at the root" : "at " + pointer, message));
  }

  template <class Value>
  Json* place(Value&& value) {
    if (frames_.empty()) {
      root_ = std::forward<Value>(value);
      return &root_;
    }
    Frame& frame = frames_.back();
    if (frame.container->is_array()) {
      frame.container->push_back(std::forward<Value>(value));
      return &frame.container->back();
    }
    Json& slot = (*frame.container)[frame.key];
    slot = std::forward<Value>(value);
    return &slot;
  }

  template <class Value>
  bool put(Value&& value) {
    place(Json(std::forward<Value>(value)));
    return true;
  }

  bool open(Json empty) {
    if (frames_.size() >= kMaxJsonDepth)
      refuse(fmt::format("nested deeper than {} levels, the most that is read", kMaxJsonDepth));
    frames_.push_back({place(std::move(empty)), {}, false});
    return true;
  }

  bool close() {
    frames_.pop_back();
    return true;
  }

  std::string_view text_;
  std::string_view origin_;
  Json root_;
  std::vector<Frame> frames_;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Json parse_json(std::string_view text, const std::string& origin) {
  // The parser takes a NUL for the end of its input and skips a byte order mark; neither is JSON.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    throw Error(ErrorCode::usage, fmt::format("{}: byte {} is NUL, expected JSON text", origin, nul));
  if (text.starts_with("\xef\xbb\xbf"))
    throw Error(ErrorCode::usage,
                fmt::format("{}: begins with a byte order mark, expected plain UTF-8", origin));
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw Error(ErrorCode::usage, fmt::format("{}: found an empty text, expected one JSON value", origin));
  Builder builder(text, origin);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string read_file(const std::filesystem::path& file, std::uint64_t max_bytes) {
  const auto fail = [&](int error) {
    throw Error(ErrorCode::io, fmt::format("{}: cannot be read: {}", file.string(), std::strerror(error)));
  };
  const std::unique_ptr<std::FILE, CloseFile> stream(std::fopen(file.c_str(), "rb"));
  if (!stream) fail(errno);
  struct stat status {};
  const bool is_device = fstat(fileno(stream.get()), &status) == 0 && S_ISCHR(status.st_mode);
  std::string text;
  char block[1 << 16];
  std::size_t got = 0;
  while ((got = std::fread(block, 1, sizeof block, stream.get())) > 0) {
    // Some have no end, and would fill the memory before anyone looks at what they say.
    if (is_device && std::memchr(block, 0, got) != nullptr)
      throw Error(ErrorCode::usage,
                  fmt::format("{}: a device that gives no text, expected a file", file.string()));
    text.append(block, got);
    if (text.size() > max_bytes)
      throw Error(ErrorCode::usage,
                  fmt::format("{}: more than {} bytes, the most that is read", file.string(), max_bytes));
  }
  if (std::ferror(stream.get())) fail(errno);
  return text;
}

Json read_json_file(const std::filesystem::path& file) {
  return parse_json(read_file(file), file.string());
}

}  // namespace branchmark
