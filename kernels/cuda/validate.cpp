#include "validate.hpp"

#include <cmath>

namespace branchmark::cuda {
namespace {

[[noreturn]] void refuse(const char* name, const std::string& what) {
  fail(BMK_INVALID_ARGUMENT, std::string(name) + ": " + what);
}

void require_aligned(const void* data, const char* name) {
  if (reinterpret_cast<std::uintptr_t>(data) % kDataAlignmentBytes != 0)
    refuse(name, "data does not begin at a multiple of 16 bytes");
}

}  // namespace

const char* name_of(bmk_dtype dtype) {
  switch (dtype) {
    case BMK_F32:
      return "f32";
    case BMK_BF16:
      return "bf16";
    default:
      return "unknown dtype";
  }
}

std::int64_t bytes_of(bmk_dtype dtype) {
  return dtype == BMK_F32 ? 4 : 2;
}

void require_matrix(const bmk_matrix& matrix, const char* name) {
  if (matrix.dtype != BMK_F32 && matrix.dtype != BMK_BF16)
    refuse(name, "dtype is " + std::to_string(matrix.dtype) + ", wanted 1 (f32) or 2 (bf16)");
  if (matrix.rows < 0 || matrix.columns < 0)
    refuse(name, "shape is [" + std::to_string(matrix.rows) + ", " + std::to_string(matrix.columns) +
                     "], wanted no negative size");
  if (matrix.row_stride < matrix.columns || matrix.row_stride % kStrideMultiple != 0)
    refuse(name, "row_stride is " + std::to_string(matrix.row_stride) +
                     ", wanted a multiple of 8 of at least " + std::to_string(matrix.columns));
  if (matrix.rows > 0 && matrix.columns > 0) require_pointer(matrix.data, name);
  require_aligned(matrix.data, name);
}

void require_matrix(const bmk_matrix& matrix, const char* name, std::int64_t rows, std::int64_t columns,
                    bmk_dtype dtype) {
  require_weight(matrix, name, rows, columns);
  if (matrix.dtype != dtype)
    refuse(name, std::string("dtype is ") + name_of(matrix.dtype) + ", wanted " + name_of(dtype));
}

void require_weight(const bmk_matrix& matrix, const char* name, std::int64_t rows, std::int64_t columns) {
  require_matrix(matrix, name);
  if (matrix.rows != rows || matrix.columns != columns)
    refuse(name, "shape is [" + std::to_string(matrix.rows) + ", " + std::to_string(matrix.columns) +
                     "], wanted [" + std::to_string(rows) + ", " + std::to_string(columns) + "]");
}

void require_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) refuse(name, "NULL");
}

void require_equal(std::int64_t found, std::int64_t wanted, const char* name) {
  if (found != wanted) refuse(name, "is " + std::to_string(found) + ", wanted " + std::to_string(wanted));
}

void require_at_least(std::int64_t found, std::int64_t wanted, const char* name) {
  if (found < wanted)
    refuse(name, "is " + std::to_string(found) + ", wanted at least " + std::to_string(wanted));
}

void require_epsilon(float eps, const char* name) {
  if (!std::isfinite(eps) || eps < 0.0f)
    refuse(name, "is " + std::to_string(eps) + ", wanted a finite number of 0 or more");
}

void require_workspace(const void* data, std::int64_t bytes, std::int64_t wanted_bytes, const char* op) {
  if (wanted_bytes <= 0) return;
  const std::string name = std::string(op) + ": workspace";
  require_at_least(bytes, wanted_bytes, (name + "_bytes").c_str());
  require_pointer(data, name.c_str());
  require_aligned(data, name.c_str());
}

void require_numerics(bmk_numerics numerics, bmk_dtype activations, const char* op) {
  switch (numerics) {
    case BMK_NUMERICS_DEFAULT:
    case BMK_NUMERICS_GDN_FP32:
      if (activations == BMK_BF16) return;
      break;
    case BMK_NUMERICS_REFERENCE:
      if (activations == BMK_F32) return;
      break;
    default:
      refuse(op, "numerics is " + std::to_string(numerics) + ", wanted 0, 1 or 2");
  }
  fail(BMK_UNSUPPORTED, std::string(op) + ": numerics " + std::to_string(numerics) + " with activations of " +
                            name_of(activations) + " (default and gdn_fp32 take bf16, reference takes f32)");
}

unsigned grid_of(std::int64_t blocks, const char* op) {
  if (blocks > kMaxBlocks)
    fail(BMK_UNSUPPORTED, std::string(op) + ": needs " + std::to_string(blocks) +
                              " blocks, the limit of a grid is " + std::to_string(kMaxBlocks));
  return static_cast<unsigned>(blocks);
}

}  // namespace branchmark::cuda
