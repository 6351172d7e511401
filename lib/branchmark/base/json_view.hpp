// A value inside a JSON document, with its place: typed reads that refuse what is not wanted, naming the
// document, the JSON pointer, the value found and what was expected. Views refer to the document, which must
// outlive them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/base/json.hpp"

namespace branchmark {

class JsonView {
 public:
  JsonView(const Json& document, std::string origin) : value_(&document), origin_(std::move(origin)) {}

  const Json& value() const noexcept { return *value_; }
  const std::string& pointer() const noexcept { return pointer_; }

  // Objects. `at` refuses a missing key, `only` any key that is not listed.
  JsonView at(std::string_view key) const;
  std::optional<JsonView> find(std::string_view key) const;
  void only(std::initializer_list<std::string_view> keys) const;
  std::vector<std::string> keys() const;

  // Arrays. `items` refuses fewer than `min_items` and more than `max_items`; `distinct_items` also an empty
  // one and equal elements.
  std::vector<JsonView> items(std::size_t min_items = 0, std::size_t max_items = SIZE_MAX) const;
  std::vector<JsonView> distinct_items(std::size_t max_items = SIZE_MAX) const;

  std::string string() const;
  // Not empty and free of control characters.
  std::string label() const;
  // One of `words`; returns its index.
  std::size_t word(std::span<const std::string_view> words) const;
  bool boolean() const;
  // A number without fraction ("4" and "4.0" are the same number to a JSON Schema), in [min, max].
  std::int64_t integer(std::int64_t min, std::int64_t max) const;
  double number(double min, double max) const;
  // Any number.
  double real() const;

  bool is_null() const noexcept { return value_->is_null(); }
  void require_object() const;
  // Throws usage with the place, the value found and `wanted`.
  [[noreturn]] void refuse(std::string_view wanted) const;

 private:
  JsonView(const Json& value, std::string origin, std::string pointer)
      : value_(&value), origin_(std::move(origin)), pointer_(std::move(pointer)) {}
  JsonView child(const Json& value, std::string_view token) const;

  const Json* value_;
  std::string origin_;
  std::string pointer_;
};

}  // namespace branchmark
