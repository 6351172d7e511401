// A fast sum of a tensor's bytes, for digests that are taken while the bytes are read anyway. It tells apart
// contents that differ by accident (another checkpoint, a flipped bit, swapped words); it is no cryptographic
// hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace branchmark {

// Sum over the 8-byte words w of f(w + c·position), modulo 2^64, f a non-linear mix; a last partial word is
// filled with zeros and the length goes in as well. The result does not depend on how advance_to was called.
class TensorSum {
 public:
  explicit TensorSum(std::span<const std::byte> data) : data_(data) {}

  // Takes in all whole words of the first `bytes` bytes that were not taken in before.
  void advance_to(std::size_t bytes) {
    for (; done_ + sizeof(std::uint64_t) <= bytes; done_ += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, data_.data() + done_, sizeof word);
      add(word);
    }
  }

  std::uint64_t finish() {
    advance_to(data_.size());
    std::uint64_t word = 0;
    if (done_ < data_.size()) std::memcpy(&word, data_.data() + done_, data_.size() - done_);
    add(word);
    add(data_.size());
    return sum_;
  }

 private:
  void add(std::uint64_t word) {
    offset_ += 0x9E3779B97F4A7C15ull;
    const std::uint64_t mixed = (word + offset_) * 0xD6E8FEB86659FD93ull;
    sum_ += mixed ^ (mixed >> 32);
  }

  std::span<const std::byte> data_;
  std::size_t done_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace branchmark
