#include "branchmark/report/kept_outputs.hpp"

#include <fmt/format.h>

#include "branchmark/base/digest.hpp"
#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"
#include "branchmark/device/device_buffer.hpp"
#include "branchmark/report/output_file.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;

// What a report says of itself is not trusted to be a file name.
bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

fs::path KeptOutputs::file_of(std::string_view digest, bmk_dtype type) const {
  return folder_ / fmt::format("{}.{}", digest, name_of(type));
}

std::string KeptOutputs::keep(std::span<const std::byte> bytes, bmk_dtype type) const {
  auto digest = sha256_hex(bytes);
  const auto file = file_of(digest, type);
  std::error_code absent;
  if (fs::is_regular_file(file, absent) && fs::file_size(file, absent) == bytes.size()) return digest;
  auto output = OutputFile::open_shared(file.string());
  output.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  output.commit();
  return digest;
}

std::optional<std::string> KeptOutputs::read(std::string_view digest, bmk_dtype type) const {
  if (!is_sha256(digest)) return std::nullopt;
  const auto file = file_of(digest, type);
  std::error_code absent;
  if (!fs::is_regular_file(file, absent)) return std::nullopt;
  auto bytes = read_file(file);
  const auto found = sha256_hex(bytes);
  if (found != digest)
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: found {} bytes whose sha256 is {}, expected that of the file's name: the file "
                    "was changed since a run kept it",
                    file.string(), bytes.size(), found));
  return bytes;
}

std::string folder_from_report(const fs::path& folder, const std::string& report) {
  const auto whole = fs::weakly_canonical(fs::absolute(folder));
  if (is_written_in_place(report)) return whole.string();
  return whole.lexically_relative(fs::weakly_canonical(fs::absolute(report).parent_path())).string();
}

}  // namespace branchmark
