// Reading the small files of a checkpoint or adapter folder, which came from elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"
#include "branchmark/base/json_view.hpp"

namespace branchmark {

// The whole file. Throws usage where there is no regular file of that name (a pipe would be waited for) or it
// is longer than `max_bytes`, io where reading fails.
inline std::string read_input(const std::filesystem::path& file, std::uint64_t max_bytes) {
  using Type = std::filesystem::file_type;
  std::error_code unreadable;  // left to read_file, which says why
  const auto type = std::filesystem::status(file, unreadable).type();
  if (type == Type::not_found)
    throw Error(ErrorCode::usage, fmt::format("{}: no such file, expected a regular file", file.string()));
  if (type != Type::regular && !unreadable)
    throw Error(ErrorCode::usage, fmt::format("{}: not a regular file", file.string()));
  return read_file(file, max_bytes);
}

// The member, unless it is absent or null: exporters write null for what is not set.
inline std::optional<JsonView> optional_member(const JsonView& object, std::string_view key) {
  auto found = object.find(key);
  if (found && found->is_null()) found.reset();
  return found;
}

}  // namespace branchmark
