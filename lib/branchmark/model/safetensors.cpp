#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "branchmark/base/error.hpp"
#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/safetensors_header.hpp"

namespace branchmark {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors data is little-endian and is not swapped");

// What the reference implementation of the format admits.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::uint64_t kLengthBytes = 8;

std::string_view name_of(TensorType type) {
  switch (type) {
    case TensorType::bf16:
      return "BF16";
    case TensorType::f32:
      return "F32";
    case TensorType::i64:
      return "I64";
  }
  return "";
}

class FileDescriptor {
 public:
  // Not blocking, so that a pipe in place of a file is refused instead of waited for.
  explicit FileDescriptor(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

[[noreturn]] void fail_io(const std::filesystem::path& file, const char* what) {
  const std::error_code reason(errno, std::generic_category());
  throw Error(ErrorCode::io, fmt::format("{}: cannot {}: {}", file.string(), what, reason.message()));
}

}  // namespace

struct Safetensors::Mapping {
  explicit Mapping(const std::filesystem::path& path);
  ~Mapping() {
    if (base != nullptr) ::munmap(base, static_cast<std::size_t>(bytes));
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const std::byte* data() const { return static_cast<const std::byte*>(base); }

  std::filesystem::path file;
  void* base = nullptr;
  std::uint64_t bytes = 0;
  std::string_view header;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> unsupported;  // name -> type as written
};

Safetensors::Mapping::Mapping(const std::filesystem::path& path) : file(path) {
  const FileDescriptor descriptor(path);
  if (descriptor.get() < 0) fail_io(path, "open");
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) fail_io(path, "stat");
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::usage, fmt::format("{}: not a regular file", path.string()));
  bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes < kLengthBytes)
    throw Error(ErrorCode::usage, fmt::format("{}: found {} bytes, a safetensors file has at least {}",
                                              path.string(), bytes, kLengthBytes));
  void* mapped =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (mapped == MAP_FAILED) fail_io(path, "map");
  base = mapped;
}

Safetensors::Safetensors(const std::filesystem::path& file) : mapping_(std::make_unique<Mapping>(file)) {
  auto& mapping = *mapping_;
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, mapping.data(), kLengthBytes);
  const std::uint64_t after_length = mapping.bytes - kLengthBytes;
  if (header_bytes > after_length || header_bytes > kMaxHeaderBytes)
    throw Error(ErrorCode::usage,
                fmt::format("{}: header length: found {}, expected at most {}", file.string(), header_bytes,
                            std::min(kMaxHeaderBytes, after_length)));
  mapping.header = {reinterpret_cast<const char*>(mapping.data() + kLengthBytes),
                    static_cast<std::size_t>(header_bytes)};
  const std::byte* data = mapping.data() + kLengthBytes + header_bytes;
  for (auto& [name, entry] :
       parse_safetensors_header(mapping.header, after_length - header_bytes, file.string())) {
    Tensor tensor;
    if (entry.type == "BF16") {
      tensor.type = TensorType::bf16;
    } else if (entry.type == "F32") {
      tensor.type = TensorType::f32;
    } else if (entry.type == "I64") {
      tensor.type = TensorType::i64;
    } else {
      mapping.unsupported.emplace(name, entry.type);
      continue;
    }
    tensor.shape = entry.shape;
    tensor.data = {data + entry.begin, static_cast<std::size_t>(entry.end - entry.begin)};
    mapping.tensors.emplace(name, std::move(tensor));
  }
}

Safetensors::~Safetensors() = default;
Safetensors::Safetensors(Safetensors&&) noexcept = default;

const std::filesystem::path& Safetensors::file() const noexcept {
  return mapping_->file;
}

std::vector<std::string> Safetensors::names() const {
  std::map<std::string_view, bool> sorted;
  for (const auto& [name, tensor] : mapping_->tensors) sorted.emplace(name, true);
  for (const auto& [name, type] : mapping_->unsupported) sorted.emplace(name, false);
  std::vector<std::string> names;
  for (const auto& [name, supported] : sorted) names.emplace_back(name);
  return names;
}

bool Safetensors::contains(const std::string& name) const {
  return mapping_->tensors.contains(name) || mapping_->unsupported.contains(name);
}

const Tensor& Safetensors::at(const std::string& name) const {
  if (const auto found = mapping_->tensors.find(name); found != mapping_->tensors.end()) return found->second;
  if (const auto found = mapping_->unsupported.find(name); found != mapping_->unsupported.end())
    throw Error(ErrorCode::usage, fmt::format("{}: tensor \"{}\": found type {}, supported: BF16, F32",
                                              file().string(), name, found->second));
  throw Error(ErrorCode::usage, fmt::format("{}: tensor \"{}\" is missing", file().string(), name));
}

const Tensor& Safetensors::at(const std::string& name, TensorType type,
                              const std::vector<std::int64_t>& shape) const {
  const Tensor& tensor = at(name);
  if (tensor.type != type || tensor.shape != shape)
    throw Error(ErrorCode::usage,
                fmt::format("{}: tensor \"{}\": found {} [{}], expected {} [{}]", file().string(), name,
                            name_of(tensor.type), fmt::join(tensor.shape, ", "), name_of(type),
                            fmt::join(shape, ", ")));
  return tensor;
}

std::string_view Safetensors::header() const noexcept {
  return mapping_->header;
}

std::int64_t Safetensors::file_bytes() const noexcept {
  return static_cast<std::int64_t>(mapping_->bytes);
}

}  // namespace branchmark
