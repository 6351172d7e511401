#include "branchmark/model/safetensors_header.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"

namespace branchmark {
namespace {

constexpr std::size_t kMaxNameBytes = 512;
constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();

// Bytes of one element; 0 for a type that is only kept by name.
std::uint64_t width_of(const std::string& type) {
  if (type == "BF16") return 2;
  if (type == "F32") return 4;
  if (type == "I64") return 8;
  return 0;
}

// Foreign text in a message: valid, quoted and short.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return json_quoted(valid_utf8(text.substr(0, kLongest))) + (text.size() > kLongest ? "..." : "");
}

class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(const std::string& origin, std::map<std::string, HeaderEntry>& table)
      : origin_(origin), table_(table) {}

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::before:
        place_ = Place::names;
        return true;
      case Place::tensor:
        place_ = Place::fields;
        seen_ = {};
        return true;
      case Place::metadata:
        place_ = Place::metadata_values;
        return true;
      default:
        return unexpected("an object");
    }
  }

  bool end_object() override {
    if (place_ == Place::names) {
      place_ = Place::after;
      return true;
    }
    if (place_ == Place::fields) {
      if (!seen_.type || !seen_.shape || !seen_.offsets)
        refuse(fmt::format("tensor \"{}\": {} is missing", name_,
                           !seen_.type    ? "dtype"
                           : !seen_.shape ? "shape"
                                          : "data_offsets"));
      table_.emplace(name_, std::move(entry_));
    }
    place_ = Place::names;
    return true;
  }

  bool key(std::string& text) override {
    if (place_ == Place::names) return name(text);
    if (place_ == Place::metadata_values) return true;
    bool* seen = nullptr;
    if (text == "dtype") {
      place_ = Place::type;
      seen = &seen_.type;
    } else if (text == "shape") {
      place_ = Place::shape;
      seen = &seen_.shape;
    } else if (text == "data_offsets") {
      place_ = Place::offsets;
      seen = &seen_.offsets;
    } else {
      refuse(fmt::format("tensor \"{}\": unknown key {}, expected dtype, shape, data_offsets", name_,
                         shown(text)));
    }
    if (*seen) refuse(fmt::format("tensor \"{}\": duplicate key \"{}\"", name_, text));
    *seen = true;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::shape && place_ != Place::offsets) return unexpected("an array");
    if (in_array_) return unexpected("a nested array");
    in_array_ = true;
    offsets_.clear();
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    if (place_ == Place::offsets) {
      if (offsets_.size() != 2)
        refuse(
            fmt::format("tensor \"{}\": data_offsets: found {} numbers, expected 2", name_, offsets_.size()));
      entry_.begin = offsets_[0];
      entry_.end = offsets_[1];
    }
    place_ = Place::fields;
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (!in_array_) return unexpected(fmt::format("the number {}", value));
    if (value > kMaxNumber)
      refuse(fmt::format("tensor \"{}\": found {}, expected numbers below 2^63", name_, value));
    if (place_ == Place::shape)
      entry_.shape.push_back(static_cast<std::int64_t>(value));
    else
      offsets_.push_back(value);
    return true;
  }

  bool string(std::string& text) override {
    if (place_ == Place::metadata_values) return true;
    if (place_ != Place::type) return unexpected("a string");
    entry_.type = std::move(text);
    place_ = Place::fields;
    return true;
  }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a Boolean"); }
  bool number_integer(std::int64_t value) override { return unexpected(fmt::format("the number {}", value)); }
  bool number_float(double, const std::string& text) override {
    return unexpected("the number " + shown(text));
  }
  bool binary(binary_t&) override { return unexpected("binary data"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) override {
    refuse(fmt::format("no JSON: {}", shown(error.what())));
  }

 private:
  // What the next event belongs to.
  enum class Place { before, names, metadata, metadata_values, tensor, fields, type, shape, offsets, after };

  bool name(const std::string& text) {
    if (text.size() > kMaxNameBytes)
      refuse(fmt::format("found a tensor name of {} bytes, expected at most {}", text.size(), kMaxNameBytes));
    name_ = text;
    if (text == "__metadata__") {
      if (metadata_seen_) refuse("duplicate key \"__metadata__\"");
      metadata_seen_ = true;
      place_ = Place::metadata;
      return true;
    }
    if (table_.count(text) != 0) refuse(fmt::format("duplicate tensor \"{}\"", text));
    entry_ = {};
    place_ = Place::tensor;
    return true;
  }

  bool unexpected(const std::string& found) {
    switch (place_) {
      case Place::before:
        refuse(fmt::format("found {}, expected an object", found));
      case Place::metadata:
        refuse(fmt::format("__metadata__: found {}, expected an object", found));
      case Place::metadata_values:
        refuse(fmt::format("__metadata__: found {}, expected strings", found));
      case Place::type:
        refuse(fmt::format("tensor \"{}\": dtype: found {}, expected a string", name_, found));
      case Place::shape:
      case Place::offsets:
        refuse(fmt::format("tensor \"{}\": {}: found {}, expected an array of non-negative integers", name_,
                           place_ == Place::shape ? "shape" : "data_offsets", found));
      default:
        refuse(fmt::format("tensor \"{}\": found {}, expected an object", name_, found));
    }
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(ErrorCode::usage, fmt::format("{}: safetensors header: {}", origin_, problem));
  }

  const std::string& origin_;
  std::map<std::string, HeaderEntry>& table_;
  Place place_ = Place::before;
  bool in_array_ = false;
  bool metadata_seen_ = false;
  struct {
    bool type, shape, offsets;
  } seen_{};
  std::string name_;
  HeaderEntry entry_;
  std::vector<std::uint64_t> offsets_;
};

[[noreturn]] void refuse_tensor(const std::string& origin, const std::string& name,
                                const std::string& problem) {
  throw Error(ErrorCode::usage, fmt::format("{}: tensor \"{}\": {}", origin, name, problem));
}

std::string shown_shape(const std::vector<std::int64_t>& shape) {
  return shown(fmt::format("{}", fmt::join(shape, ", ")));
}

void check_size(const std::string& origin, const std::string& name, const HeaderEntry& entry) {
  std::uint64_t elements = 1;
  for (const auto extent : entry.shape)
    if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(extent), &elements))
      refuse_tensor(origin, name, fmt::format("shape {} overflows 64 bits", shown_shape(entry.shape)));
  const std::uint64_t width = width_of(entry.type);
  if (width == 0) return;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements, width, &bytes) || bytes != entry.end - entry.begin)
    refuse_tensor(
        origin, name,
        fmt::format("found {} bytes of data, expected {} elements of {} bytes ({} {})",
                    entry.end - entry.begin, elements, width, entry.type, shown_shape(entry.shape)));
}

void check_coverage(const std::string& origin, const std::map<std::string, HeaderEntry>& table,
                    std::uint64_t data_bytes) {
  std::vector<std::pair<const std::string*, const HeaderEntry*>> ordered;
  for (const auto& [name, entry] : table) ordered.emplace_back(&name, &entry);
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
  });
  std::uint64_t covered = 0;
  for (const auto& [name, entry] : ordered) {
    if (entry->begin != covered)
      refuse_tensor(
          origin, *name,
          fmt::format("data begins at byte {}, expected {}: tensors may neither overlap nor leave holes",
                      entry->begin, covered));
    covered = entry->end;
  }
  if (covered != data_bytes)
    throw Error(ErrorCode::usage, fmt::format("{}: tensors cover {} bytes of data, the file holds {}", origin,
                                              covered, data_bytes));
}

}  // namespace

std::map<std::string, HeaderEntry> parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                                            const std::string& origin) {
  if (text.empty() || text.front() != '{')
    throw Error(ErrorCode::usage, fmt::format("{}: safetensors header: does not begin with '{{'", origin));
  // The parser takes a NUL byte for the end of its input and would leave the rest unread.
  if (text.find('\0') != std::string_view::npos)
    throw Error(ErrorCode::usage, fmt::format("{}: safetensors header: holds a NUL byte", origin));
  std::map<std::string, HeaderEntry> table;
  HeaderReader reader(origin, table);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  for (const auto& [name, entry] : table) {
    if (entry.begin > entry.end || entry.end > data_bytes)
      refuse_tensor(origin, name,
                    fmt::format("data_offsets [{}, {}] do not lie in order within the {} bytes of data",
                                entry.begin, entry.end, data_bytes));
    check_size(origin, name, entry);
  }
  check_coverage(origin, table, data_bytes);
  return table;
}

}  // namespace branchmark
