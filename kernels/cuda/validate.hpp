// Checks of what a caller hands to an op: host code only, no device call. Each throws a Failure whose message
// names the argument, the value found and the value wanted.
#pragma once

#include <cstdint>
#include <string>

#include "error.hpp"

namespace branchmark::cuda {

inline constexpr std::int64_t kDataAlignmentBytes = 16;
inline constexpr std::int64_t kStrideMultiple = 8;
inline constexpr std::int64_t kMaxBlocks = 0x7FFFFFFF;  // gridDim.x

const char* name_of(bmk_dtype dtype);
std::int64_t bytes_of(bmk_dtype dtype);

// `args` is there and at least as long as this module's idea of it.
template <typename Args>
void require_args(const Args* args, const char* op) {
  if (args == nullptr) fail(BMK_INVALID_ARGUMENT, std::string(op) + ": args is NULL");
  if (args->struct_size < static_cast<std::int64_t>(sizeof(Args)))
    fail(BMK_INVALID_ARGUMENT, std::string(op) + ": struct_size is " + std::to_string(args->struct_size) +
                                   ", wanted at least " + std::to_string(sizeof(Args)));
}

// Convention 3 of the ABI: dtype known, sizes not negative, row stride a multiple of 8 and at least
// `columns`, data 16-byte aligned, and present unless the matrix has no element.
void require_matrix(const bmk_matrix& matrix, const char* name);

// require_matrix, and the very shape and dtype.
void require_matrix(const bmk_matrix& matrix, const char* name, std::int64_t rows, std::int64_t columns,
                    bmk_dtype dtype);

// A weight: require_matrix with the very shape, stored as bf16 or f32.
void require_weight(const bmk_matrix& matrix, const char* name, std::int64_t rows, std::int64_t columns);

void require_pointer(const void* pointer, const char* name);
void require_equal(std::int64_t found, std::int64_t wanted, const char* name);
void require_at_least(std::int64_t found, std::int64_t wanted, const char* name);

// The eps of a norm: finite and not negative.
void require_epsilon(float eps, const char* name);

// Scratch memory of an op: large enough, present and 16-byte aligned. Nothing where `wanted_bytes` is 0.
void require_workspace(const void* data, std::int64_t bytes, std::int64_t wanted_bytes, const char* op);

// Numerics and storage of activations are one choice: bf16 with DEFAULT and GDN_FP32, f32 with REFERENCE.
// BMK_UNSUPPORTED for the other pairs, BMK_INVALID_ARGUMENT for numerics that do not exist.
void require_numerics(bmk_numerics numerics, bmk_dtype activations, const char* op);

// `blocks` as a grid dimension; BMK_UNSUPPORTED past the device's limit.
unsigned grid_of(std::int64_t blocks, const char* op);

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
constexpr std::int64_t round_up(std::int64_t a, std::int64_t multiple) {
  return ceil_div(a, multiple) * multiple;
}

}  // namespace branchmark::cuda
