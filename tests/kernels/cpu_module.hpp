// The CPU module as its tests hold it: loaded by path, devices of a chosen instruction set, matrices in
// device memory.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "branchmark/kernels.h"

namespace branchmark::test {

inline const bmk_kernels& module() {
  static const bmk_kernels* const kernels = [] {
    void* library = dlopen(BRANCHMARK_CPU_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<bmk_entry_point>(dlsym(library, BMK_ENTRY_POINT))();
  }();
  return *kernels;
}

// EXPECT_EQ(status_text(module()....), "ok") shows the module's own message where a call fails.
inline std::string status_text(bmk_status status) {
  return status == BMK_OK ? "ok" : std::to_string(status) + ": " + module().last_error();
}
inline void expect_ok(bmk_status status) {
  EXPECT_EQ(status_text(status), "ok");
}
// The call fails as told, with a message that holds `part`.
inline void expect_failure(bmk_status status, bmk_status wanted, const std::string& part) {
  EXPECT_EQ(status, wanted) << module().last_error();
  EXPECT_NE(std::string(module().last_error()).find(part), std::string::npos) << module().last_error();
}

inline uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}
inline float from_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Steps between two bf16 numbers.
inline int64_t bf16_steps(float a, float b) {
  const auto place = [](float value) {
    const int64_t bits = to_bf16(value);
    return bits < 0x8000 ? bits : 0x8000 - bits;
  };
  return std::abs(place(a) - place(b));
}

// A device with one stream. `isa` is the value of BRANCHMARK_CPU_ISA, empty for the module's own choice.
class Device {
 public:
  explicit Device(const std::string& isa = "", int64_t num_threads = 2) {
    setenv("BRANCHMARK_CPU_ISA", isa.c_str(), 1);
    const bmk_device_options options{sizeof(bmk_device_options), num_threads};
    status_ = module().device->open(0, &options, &device_);
    unsetenv("BRANCHMARK_CPU_ISA");
    if (status_ == BMK_OK) expect_ok(module().stream->create(device_, &stream_));
  }
  ~Device() {
    module().stream->destroy(stream_);
    module().device->close(device_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  bmk_status status() const { return status_; }
  bmk_device* device() const { return device_; }
  bmk_stream* stream() const { return stream_; }

 private:
  bmk_status status_ = BMK_OK;
  bmk_device* device_ = nullptr;
  bmk_stream* stream_ = nullptr;
};

// The instruction sets that this machine can run, the widest first.
inline std::vector<std::string> runnable_isas() {
  std::vector<std::string> isas;
  for (const char* isa : {"x86_64_v4", "x86_64_v3", "baseline"}) {
    if (Device(isa).status() == BMK_OK) isas.emplace_back(isa);
  }
  return isas;
}

// A matrix in device memory; every byte is 0xFF at first, which is NaN in both types.
class Matrix {
 public:
  Matrix(Device& device, int64_t rows, int64_t columns, bmk_dtype dtype, int64_t row_stride = 0)
      : device_(device), view_{nullptr, rows, columns, row_stride > 0 ? row_stride : (columns + 7) / 8 * 8,
                               dtype,   0} {
    expect_ok(module().memory->allocate(device.device(), bytes() + 1, &view_.data));
    memset(view_.data, 0xFF, static_cast<std::size_t>(bytes()));
  }
  ~Matrix() { module().memory->release(device_.device(), view_.data); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  const bmk_matrix& view() const { return view_; }
  bmk_matrix rows(int64_t first, int64_t count) const {
    bmk_matrix part = view_;
    part.data = static_cast<char*>(view_.data) + first * view_.row_stride * width();
    part.rows = count;
    return part;
  }
  float at(int64_t row, int64_t column) const {
    const int64_t i = row * view_.row_stride + column;
    return view_.dtype == BMK_BF16 ? from_bf16(static_cast<const uint16_t*>(view_.data)[i])
                                   : static_cast<const float*>(view_.data)[i];
  }
  void set(int64_t row, int64_t column, float value) {
    const int64_t i = row * view_.row_stride + column;
    if (view_.dtype == BMK_BF16) {
      static_cast<uint16_t*>(view_.data)[i] = to_bf16(value);
    } else {
      static_cast<float*>(view_.data)[i] = value;
    }
  }
  // Near to normal with the given deviation (a power of two), from the module's generator.
  Matrix& fill(uint64_t key, int32_t log2_deviation = 0, float mean = 0.0f) {
    const bmk_synthetic_fill_args args{sizeof args, key, log2_deviation - 15, mean, view_};
    expect_ok(module().ops->synthetic_fill(device_.stream(), &args));
    return *this;
  }
  // The elements of rows [first, first + count), without what lies between a row's end and the next.
  std::string row_bits(int64_t first, int64_t count) const {
    std::string bits;
    for (int64_t row = first; row < first + count; ++row) {
      bits.append(static_cast<const char*>(view_.data) + row * view_.row_stride * width(),
                  static_cast<std::size_t>(view_.columns * width()));
    }
    return bits;
  }
  std::string bits() const { return row_bits(0, view_.rows); }

 private:
  int64_t width() const { return view_.dtype == BMK_BF16 ? 2 : 4; }
  int64_t bytes() const { return view_.rows * view_.row_stride * width(); }

  Device& device_;
  bmk_matrix view_;
};

struct GemmDeleter {
  void operator()(bmk_gemm* gemm) const { module().gemm->destroy(gemm); }
};
using Gemm = std::unique_ptr<bmk_gemm, GemmDeleter>;

inline Gemm make_gemm(Device& device, bmk_gemm_kind kind) {
  const bmk_gemm_options options{sizeof options, kind, 0, nullptr};
  bmk_gemm* gemm = nullptr;
  expect_ok(module().gemm->create(device.device(), &options, &gemm));
  return Gemm(gemm);
}

}  // namespace branchmark::test
