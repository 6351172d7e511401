// A counter-based generator: the value at an index is a function of (key, index) alone, so any element can be
// made anywhere, in any order, with the same bits. The mixing function is the one that the kernel ABI names
// for synthetic weights (bmk_synthetic_fill_args).
#pragma once

#include <cstdint>
#include <string_view>

namespace branchmark {

inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) {
  std::uint64_t z = key + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// A key for a named stream of a seed: FNV-1a over the name, mixed with the seed.
inline std::uint64_t random_key(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return random_bits(hash, seed);
}

// A stream of values for host-side use.
class Random {
 public:
  explicit Random(std::uint64_t key) : key_(key) {}
  Random(std::uint64_t seed, std::string_view name) : key_(random_key(seed, name)) {}

  std::uint64_t bits() { return random_bits(key_, index_++); }
  // Uniform in [0, bound); bound > 0. The bias of the multiplication is below bound / 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((bits() >> 32) * std::uint64_t{bound} >> 32);
  }
  // Uniform in [0, 1), 24 bits.
  float uniform() { return static_cast<float>(bits() >> 40) * 0x1p-24f; }
  // Bell-shaped, mean 0, standard deviation 1 (sum of four uniform integers).
  float normal() {
    const std::uint64_t z = bits();
    const auto s =
        static_cast<std::int32_t>((z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48)) -
        131070;
    return static_cast<float>(s) * (1.0f / 37837.0f);
  }

 private:
  std::uint64_t key_;
  std::uint64_t index_ = 0;
};

}  // namespace branchmark
