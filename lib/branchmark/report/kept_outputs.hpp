// Outputs kept beside a report (--keep-outputs): for each digest in it a file that holds exactly the bytes
// that were digested, so that `compare` can say how far apart two outputs are.
//
// A file is called DIGEST.bf16 or DIGEST.f32, little-endian elements of that type. The name says what the
// bytes are: runs can share a folder, and an output that several cases give is there once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "branchmark/kernels.h"

namespace branchmark {

class KeptOutputs {
 public:
  // Touches nothing; a run makes the folder with make_output_folder first.
  explicit KeptOutputs(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const noexcept { return folder_; }

  // sha256 of the bytes. They are on disk when this returns; a file that has their name and size is taken for
  // them. Throws io.
  std::string keep(std::span<const std::byte> bytes, bmk_dtype type) const;

  // The bytes of a digest; empty where they were not kept as this type, or where it is no sha256. Throws
  // usage where the file holds other bytes than its name says, io where it cannot be read.
  std::optional<std::string> read(std::string_view digest, bmk_dtype type) const;

 private:
  std::filesystem::path file_of(std::string_view digest, bmk_dtype type) const;

  std::filesystem::path folder_;
};

// How a report names the folder: relative to its own, so that both can be moved together; absolute where
// `report` is no regular file ("-", a device).
std::string folder_from_report(const std::filesystem::path& folder, const std::string& report);

}  // namespace branchmark
