// A checkpoint folder: config.json beside model.safetensors, or beside the shards that
// model.safetensors.index.json lists. Files are memory-mapped and read-only.
//
// A header that is truncated, overlapping, out of range, not JSON or hostile (lengths that overflow) is
// refused and never read past. Safetensors format: an 8-byte little-endian header length, a JSON header of at
// most 100 MB, then the data, which the tensors cover exactly, without overlap or holes. What a mapping
// cannot guard against is a file that someone cuts while it is mapped: do not write checkpoints in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace branchmark {

enum class TensorType { bf16, f32, i64 };

// One tensor of a safetensors file; `data` points into the mapping.
struct Tensor {
  TensorType type = TensorType::bf16;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

// One mapped safetensors file. Movable; thread-safe for reading.
class Safetensors {
 public:
  // Throws io where the file cannot be read, usage where its content is refused. Tensors of another type than
  // TensorType's are kept by name, and refused by name (with that type) when asked for.
  explicit Safetensors(const std::filesystem::path& file);
  ~Safetensors();
  Safetensors(Safetensors&&) noexcept;
  Safetensors& operator=(Safetensors&&) = delete;

  const std::filesystem::path& file() const noexcept;
  std::vector<std::string> names() const;  // sorted
  bool contains(const std::string& name) const;
  // Throws usage for a missing tensor or an unsupported type.
  const Tensor& at(const std::string& name) const;
  // As at, and refuses another type or shape, naming tensor, found and expected.
  const Tensor& at(const std::string& name, TensorType type, const std::vector<std::int64_t>& shape) const;
  // The header's text, for digests.
  std::string_view header() const noexcept;
  std::int64_t file_bytes() const noexcept;

 private:
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
};

class Checkpoint {
 public:
  explicit Checkpoint(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  // The first of "model.language_model.", "model.", "" under which embed_tokens.weight exists.
  const std::string& prefix() const noexcept { return prefix_; }
  bool contains(const std::string& name_without_prefix) const;
  const Tensor& at(const std::string& name_without_prefix) const;
  const std::vector<Safetensors>& files() const noexcept { return files_; }

 private:
  std::filesystem::path folder_;
  std::string prefix_;
  std::vector<Safetensors> files_;
  std::map<std::string, std::size_t> file_of_;
};

}  // namespace branchmark
