// What the model tests share: a folder that vanishes again, and writers for the files of a checkpoint,
// well-formed or not.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"

namespace branchmark::test {

// A checkpoint with what transformers computes from it.
inline const auto kMini = std::filesystem::path(BRANCHMARK_TEST_DATA) / "qwen3_5-mini";

class Folder {
 public:
  Folder() {
    auto name = (std::filesystem::temp_directory_path() / "branchmark-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_whole(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A tensor as stored: its bytes are appended in order.
struct StoredTensor {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A file with this header text, whatever it says; `length` replaces the header's true length.
inline std::string safetensors_text(const std::string& header, const std::string& data,
                                    std::uint64_t length) {
  return bytes_of(std::vector<std::uint64_t>{length}) + header + data;
}
inline std::string safetensors_text(const std::string& header, const std::string& data) {
  return safetensors_text(header, data, header.size());
}

inline std::string safetensors_text(const std::vector<StoredTensor>& tensors) {
  auto header = Json::object();
  std::string data;
  for (const auto& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.type},
                           {"shape", tensor.shape},
                           {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  return safetensors_text(header.dump(), data);
}

// Runs `call`, which must throw an Error with this code whose message holds every one of `parts`.
template <class Call>
void expect_error(ErrorCode code, const std::vector<std::string>& parts, const Call& call) {
  try {
    call();
    FAIL() << "no error; expected one that says " << (parts.empty() ? "" : parts.front());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const auto& part : parts)
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
          << "message: " << error.what() << "\nexpected in it: " << part;
  }
}

}  // namespace branchmark::test
