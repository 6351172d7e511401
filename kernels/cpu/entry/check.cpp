#include "entry/check.hpp"

namespace branchmark::cpu {
namespace {

constexpr int64_t kDataAlignment = 16;
constexpr int64_t kStrideElements = 8;

bool known(bmk_dtype dtype) {
  return dtype == BMK_F32 || dtype == BMK_BF16;
}

const char* name_of(bmk_dtype dtype) {
  return dtype == BMK_F32 ? "f32" : dtype == BMK_BF16 ? "bf16" : "unknown";
}

bool misaligned(const void* data, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment) != 0;
}

std::string size_text(int64_t rows, int64_t columns) {
  std::string text = "[";
  return text.append(std::to_string(rows)).append(", ").append(std::to_string(columns)).append("]");
}

std::string found_wanted(const std::string& what, int64_t found, const std::string& wanted) {
  return what + " is " + std::to_string(found) + ", wanted " + wanted;
}

}  // namespace

void Check::fail(const std::string& message) const {
  throw Failure{BMK_INVALID_ARGUMENT, std::string(op_) + ": " + message};
}

void Check::that(bool holds, const std::string& message) const {
  if (!holds) fail(message);
}

void Check::layout(const char* name, const bmk_matrix& matrix, int64_t rows, int64_t columns) const {
  if (rows < 0 || columns < 0) fail(std::string(name) + " would be " + size_text(rows, columns));
  if (matrix.rows != rows || matrix.columns != columns) {
    fail(std::string(name) + " is " + size_text(matrix.rows, matrix.columns) + ", wanted " +
         size_text(rows, columns));
  }
  if (!known(matrix.dtype)) {
    fail(found_wanted(std::string(name) + ".dtype", matrix.dtype, "1 (f32) or 2 (bf16)"));
  }
  if (pointers_ == Pointers::kIgnored) return;
  if (matrix.data == nullptr && rows > 0 && columns > 0) fail(std::string(name) + ".data is NULL");
  if (misaligned(matrix.data, kDataAlignment)) {
    fail(std::string(name) + ".data does not begin at a multiple of " + std::to_string(kDataAlignment) +
         " bytes");
  }
}

void Check::matrix(const char* name, const bmk_matrix& matrix, int64_t rows, int64_t columns) const {
  layout(name, matrix, rows, columns);
  if (matrix.row_stride % kStrideElements != 0 || matrix.row_stride < columns) {
    fail(found_wanted(std::string(name) + ".row_stride", matrix.row_stride,
                      "a multiple of " + std::to_string(kStrideElements) + " and at least its " +
                          std::to_string(columns) + " columns"));
  }
}

void Check::matrix_with_stride(const char* name, const bmk_matrix& matrix, int64_t rows, int64_t columns,
                               int64_t row_stride) const {
  layout(name, matrix, rows, columns);
  if (matrix.row_stride != row_stride) {
    fail(found_wanted(std::string(name) + ".row_stride", matrix.row_stride, std::to_string(row_stride)));
  }
}

void Check::dtype(const char* name, const bmk_matrix& matrix, bmk_dtype wanted) const {
  if (matrix.dtype == wanted) return;
  fail(std::string(name) + " is " + name_of(matrix.dtype) + ", wanted " + name_of(wanted));
}

void Check::activations(bmk_numerics numerics, std::initializer_list<Activation> matrices) const {
  if (numerics < BMK_NUMERICS_DEFAULT || numerics > BMK_NUMERICS_REFERENCE) {
    fail(found_wanted("numerics", numerics, "0 (default), 1 (gdn_fp32) or 2 (reference)"));
  }
  const bool reference = numerics == BMK_NUMERICS_REFERENCE;
  const bmk_dtype wanted = reference ? BMK_F32 : BMK_BF16;
  for (const Activation& activation : matrices) {
    if (activation.matrix.dtype == wanted) continue;
    throw Failure{BMK_UNSUPPORTED, std::string(op_) + ": " + activation.name + " is " +
                                       name_of(activation.matrix.dtype) + ", but activations under " +
                                       (reference ? "reference" : "default or gdn_fp32") + " numerics are " +
                                       name_of(wanted)};
  }
}

void Check::array(const char* name, const void* pointer, int64_t count) const {
  if (pointers_ == Pointers::kIgnored || count <= 0) return;
  if (pointer == nullptr) fail(std::string(name) + " is NULL");
}

void Check::sequences(const bmk_sequences& sequences) const {
  const int64_t count = sequences.num_sequences;
  at_least("sequences.num_sequences", count, 0);
  at_least("sequences.num_rows", sequences.num_rows, 0);
  at_least("sequences.num_chunks", sequences.num_chunks, 0);
  at_least("sequences.max_rows", sequences.max_rows, 0);
  if (pointers_ == Pointers::kIgnored) return;
  array("sequences.row_offsets", sequences.row_offsets, count);
  array("sequences.first_position", sequences.first_position, count);
  array("sequences.chunk_offsets", sequences.chunk_offsets, count);
  array("sequences.sequence_of_row", sequences.sequence_of_row, sequences.num_rows);
  array("sequences.host_row_offsets", sequences.host_row_offsets, count);
  array("sequences.host_first_position", sequences.host_first_position, count);
  int64_t rows = 0, chunks = 0, longest = 0;
  for (int64_t s = 0; s < count; ++s) {
    const std::string at = "[" + std::to_string(s) + "]";
    equal(("sequences.host_row_offsets" + at).c_str(), sequences.host_row_offsets[s], rows);
    const int64_t own = sequences.host_row_offsets[s + 1] - rows;
    at_least(("rows of sequence " + std::to_string(s)).c_str(), own, 0);
    const int64_t first = sequences.host_first_position[s];
    if (first < 0 || first % BMK_CHUNK_TOKENS != 0) {
      fail(found_wanted("sequences.host_first_position" + at, first,
                        "a multiple of " + std::to_string(BMK_CHUNK_TOKENS)));
    }
    rows += own;
    chunks += (own + BMK_CHUNK_TOKENS - 1) / BMK_CHUNK_TOKENS;
    longest = own > longest ? own : longest;
  }
  equal("sequences.num_rows", sequences.num_rows, rows);
  equal("sequences.num_chunks", sequences.num_chunks, chunks);
  equal("sequences.max_rows", sequences.max_rows, longest);
}

void Check::workspace(const void* data, int64_t bytes, int64_t wanted_bytes) const {
  if (wanted_bytes <= 0) return;
  at_least("workspace_bytes", bytes, wanted_bytes);
  array("workspace", data, wanted_bytes);
  if (misaligned(data, kDataAlignment)) {
    fail("workspace does not begin at a multiple of " + std::to_string(kDataAlignment) + " bytes");
  }
}

void Check::at_least(const char* name, int64_t found, int64_t wanted) const {
  if (found < wanted) fail(found_wanted(name, found, "at least " + std::to_string(wanted)));
}

void Check::equal(const char* name, int64_t found, int64_t wanted) const {
  if (found != wanted) fail(found_wanted(name, found, std::to_string(wanted)));
}

void Check::epsilon(float eps) const {
  if (!(eps >= 0.0f && eps <= 3.4028235e38f)) {
    fail("eps is " + std::to_string(eps) + ", wanted a finite number of 0 or more");
  }
}

void Check::grouped_heads(const char* name, int64_t heads, const char* groups_name, int64_t groups) const {
  at_least(name, heads, 1);
  at_least(groups_name, groups, 1);
  if (heads % groups != 0) {
    fail(found_wanted(name, heads,
                      "a multiple of " + std::string(groups_name) + ", " + std::to_string(groups)));
  }
}

}  // namespace branchmark::cpu
