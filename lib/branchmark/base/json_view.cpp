#include "branchmark/base/json_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

// A value in a message: enough to recognise it.
std::string shown(const Json& value) {
  constexpr std::size_t kLimit = 80;
  std::string text = json_text(value, JsonStyle::compact);
  if (text.size() > kLimit) text = valid_utf8(std::string_view(text).substr(0, kLimit)) + "...";
  return text;
}

// RFC 6901.
std::string escaped(std::string_view token) {
  std::string out;
  for (const char c : token) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

JsonView JsonView::child(const Json& value, std::string_view token) const {
  return JsonView(value, origin_, pointer_ + "/" + escaped(token));
}

void JsonView::refuse(std::string_view wanted) const {
  throw Error(ErrorCode::usage,
              fmt::format("{}: at {}: found {}, expected {}", origin_,
                          pointer_.empty() ? "the root" : pointer_, shown(*value_), wanted));
}

void JsonView::require_object() const {
  if (!value_->is_object()) refuse("an object");
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  require_object();
  const auto found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return child(*found, key);
}

JsonView JsonView::at(std::string_view key) const {
  auto found = find(key);
  if (!found)
    throw Error(ErrorCode::usage,
                fmt::format("{}: at {}: missing, expected this key", origin_, pointer_ + "/" + escaped(key)));
  return *std::move(found);
}

void JsonView::only(std::initializer_list<std::string_view> keys) const {
  require_object();
  for (const auto& [key, member] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    throw Error(ErrorCode::usage, fmt::format("{}: at {}/{}: unknown key, expected one of {}", origin_,
                                              pointer_, escaped(key), fmt::join(keys, ", ")));
  }
}

std::vector<std::string> JsonView::keys() const {
  require_object();
  std::vector<std::string> keys;
  for (const auto& [key, member] : value_->items()) keys.push_back(key);
  return keys;
}

std::vector<JsonView> JsonView::items(std::size_t min_items, std::size_t max_items) const {
  if (!value_->is_array()) refuse("an array");
  if (value_->size() < min_items)
    refuse(min_items == 1 ? "at least one element" : fmt::format("at least {} elements", min_items));
  if (value_->size() > max_items) refuse(fmt::format("at most {} elements", max_items));
  std::vector<JsonView> items;
  items.reserve(value_->size());
  for (const Json& item : *value_) items.push_back(child(item, std::to_string(items.size())));
  return items;
}

std::vector<JsonView> JsonView::distinct_items(std::size_t max_items) const {
  auto views = items(1, max_items);
  for (std::size_t i = 1; i < views.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (views[i].value() == views[j].value())
        views[i].refuse(fmt::format("a value other than element {}'s", j));
  return views;
}

std::string JsonView::string() const {
  if (!value_->is_string()) refuse("a string");
  return value_->get<std::string>();
}

std::string JsonView::label() const {
  std::string text = string();
  if (text.empty() || has_control_character(text))
    refuse("a string that is not empty, without control characters");
  return text;
}

std::size_t JsonView::word(std::span<const std::string_view> words) const {
  if (value_->is_string()) {
    const auto found = std::find(words.begin(), words.end(), value_->get_ref<const std::string&>());
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  }
  refuse(words.size() == 1 ? fmt::format("\"{}\"", words[0])
                           : fmt::format("one of \"{}\"", fmt::join(words, "\", \"")));
}

bool JsonView::boolean() const {
  if (!value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

std::int64_t JsonView::integer(std::int64_t min, std::int64_t max) const {
  const auto outside = [&] { refuse(fmt::format("a whole number from {} to {}", min, max)); };
  std::int64_t number = 0;
  if (value_->is_number_unsigned()) {
    const auto large = value_->get<std::uint64_t>();
    if (large > static_cast<std::uint64_t>(INT64_MAX)) outside();
    number = static_cast<std::int64_t>(large);
  } else if (value_->is_number_integer()) {
    number = value_->get<std::int64_t>();
  } else if (value_->is_number_float()) {
    const double found = value_->get<double>();
    if (found != std::trunc(found) || std::fabs(found) > 0x1p53) outside();
    number = static_cast<std::int64_t>(found);
  } else {
    outside();
  }
  if (number < min || number > max) outside();
  return number;
}

double JsonView::real() const {
  if (!value_->is_number()) refuse("a number");
  return value_->get<double>();
}

double JsonView::number(double min, double max) const {
  const double found = value_->is_number() ? value_->get<double>() : NAN;
  if (!(found >= min && found <= max)) refuse(fmt::format("a number from {} to {}", min, max));
  return found;
}

}  // namespace branchmark
