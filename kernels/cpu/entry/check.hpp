// The one seam through which an op's arguments come in. What is asked of a matrix is convention 3 of the ABI;
// each op adds its own sizes. A message names op, argument, what was found and what was wanted.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "branchmark/kernels.h"
#include "entry/boundary.hpp"

namespace branchmark::cpu {

// Whether pointers are looked at: a workspace query reads sizes only, and its pointers may be NULL.
enum class Pointers { kChecked, kIgnored };

class Check {
 public:
  // Throws where `args` is NULL or shorter than this module reads.
  template <typename Args>
  Check(const char* op, const Args* args, Pointers pointers = Pointers::kChecked)
      : op_(op), pointers_(pointers) {
    if (args == nullptr) fail("args is NULL");
    require_struct_size(op, args->struct_size, sizeof(Args));
  }

  // Alignment, row stride, type; and that the matrix is [rows, columns]. A matrix without elements needs no
  // data.
  void matrix(const char* name, const bmk_matrix& matrix, int64_t rows, int64_t columns) const;
  // The same for a matrix whose rows lie `row_stride` elements apart, which need not be a multiple of 8.
  void matrix_with_stride(const char* name, const bmk_matrix& matrix, int64_t rows, int64_t columns,
                          int64_t row_stride) const;
  void dtype(const char* name, const bmk_matrix& matrix, bmk_dtype wanted) const;

  struct Activation {
    const char* name;
    const bmk_matrix& matrix;
  };
  // Activations are bf16, under REFERENCE f32. Another pair is BMK_UNSUPPORTED, another number of numerics
  // invalid.
  void activations(bmk_numerics numerics, std::initializer_list<Activation> matrices) const;

  void sequences(const bmk_sequences& sequences) const;
  // `count` elements are read or written behind `pointer`.
  void array(const char* name, const void* pointer, int64_t count) const;
  void workspace(const void* data, int64_t bytes, int64_t wanted_bytes) const;

  void at_least(const char* name, int64_t found, int64_t wanted) const;
  void equal(const char* name, int64_t found, int64_t wanted) const;
  // A norm's epsilon: finite, not negative.
  void epsilon(float eps) const;
  // `heads` can be shared out evenly among `groups`, both at least 1.
  void grouped_heads(const char* name, int64_t heads, const char* groups_name, int64_t groups) const;
  void that(bool holds, const std::string& message) const;

 private:
  [[noreturn]] void fail(const std::string& message) const;
  void layout(const char* name, const bmk_matrix& matrix, int64_t rows, int64_t columns) const;

  const char* op_;
  Pointers pointers_;
};

}  // namespace branchmark::cpu
