// Matrices for the tests of the CPU module's sequence ops, and values to fill them with.
//
// These headers are compiled with the definition of BRANCHMARK_ISA of the ops that a test is linked with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::test {

namespace ops = BRANCHMARK_ISA;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Values of about a normal distribution, the same bits everywhere: sums of integers, scaled by a power of
// two.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  float normal() {
    int64_t sum = -131070;
    for (uint64_t z = next(), i = 0; i < 4; ++i, z >>= 16) sum += static_cast<int64_t>(z & 0xFFFF);
    return static_cast<float>(sum) * 0x1p-15f * 0.8660254f;
  }
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

 private:
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

// A matrix of bf16 or f32. A new one holds NaNs.
class Array {
 public:
  Array(bmk_dtype dtype, int64_t rows, int64_t columns)
      : dtype_(dtype), columns_(columns), bytes_(static_cast<size_t>(rows * columns * width()), 0xFF) {}

  int64_t rows() const { return static_cast<int64_t>(bytes_.size()) / (columns_ * width()); }
  int64_t columns() const { return columns_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }

  float at(int64_t row, int64_t column) const { return ops::load(data(), row * columns_ + column, dtype_); }
  void set(int64_t row, int64_t column, float x) { ops::store(data(), row * columns_ + column, dtype_, x); }
  template <class F>
  Array& fill(F value) {
    for (int64_t r = 0; r < rows(); ++r) {
      for (int64_t c = 0; c < columns_; ++c) set(r, c, value(r, c));
    }
    return *this;
  }

  // Views are of matrices that ops only read, too: bmk_matrix knows no const.
  bmk_matrix view() const { return {const_cast<void*>(data()), rows(), columns_, columns_, dtype_, 0}; }
  bmk_matrix columns_from(int64_t first, int64_t count) const {
    return {const_cast<uint8_t*>(bytes_.data()) + first * width(), rows(), count, columns_, dtype_, 0};
  }
  Array slice(int64_t first, int64_t count) const {
    Array part(dtype_, 0, columns_);
    const auto begin = bytes_.begin() + first * columns_ * width();
    part.bytes_.assign(begin, begin + count * columns_ * width());
    return part;
  }
  void append(const Array& more) { bytes_.insert(bytes_.end(), more.bytes_.begin(), more.bytes_.end()); }
  bool operator==(const Array& other) const { return bytes_ == other.bytes_; }

 private:
  int64_t width() const { return dtype_ == BMK_BF16 ? 2 : 4; }

  bmk_dtype dtype_;
  int64_t columns_;
  std::vector<uint8_t> bytes_;
};

inline Array normal_array(bmk_dtype dtype, int64_t rows, int64_t columns, uint64_t seed, float scale = 1.0f) {
  Random random(seed);
  return Array(dtype, rows, columns).fill([&](int64_t, int64_t) { return scale * random.normal(); });
}

}  // namespace branchmark::cpu::test
