// SHA-256 (FIPS 180-4), for digests of outputs, scenarios and files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace branchmark {

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> data);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // Lower-case hexadecimal; the object must not be used afterwards.
  std::string hex();

 private:
  void block(const std::byte* data);
  std::array<std::uint32_t, 8> state_;
  std::array<std::byte, 64> pending_{};
  std::uint64_t length_bytes_ = 0;
};

std::string sha256_hex(std::span<const std::byte> data);
std::string sha256_hex(std::string_view text);

}  // namespace branchmark
