#include <cstdio>

#include "entry/host.hpp"
#include "gemm/handle.hpp"

namespace branchmark::cpu {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// "[a,b,c]" with each element as `text` gives it.
template <typename Range, typename Text>
std::string list(const Range& range, const Text& text) {
  std::string out = "[";
  for (const auto& element : range) {
    if (out.size() > 1) out += ',';
    out += text(element);
  }
  return out + "]";
}

const char* name_of(bmk_gemm_kind kind) {
  return kind == BMK_GEMM_DEFAULT ? "default" : kind == BMK_GEMM_FIXED ? "fixed" : "class";
}

std::string name_of_type(bmk_dtype dtype) {
  return quoted(dtype == BMK_BF16 ? "bf16" : "f32");
}

std::string algorithms_text(const ClassTable& table) {
  std::size_t index = 0;
  return list(kGemmAlgorithms, [&](const GemmAlgorithm& algorithm) {
    return "{\"fingerprint\":" + quoted(algorithm.fingerprint) +
           ",\"in_class\":" + (table.in_class[index++] ? "true" : "false") +
           ",\"split_k\":" + std::to_string(algorithm.split_k) + "}";
  });
}

// The choice by rows, as the row counts from which another algorithm is taken.
std::string table_text(const GemmHandle& handle, const bmk_gemm_shape& shape) {
  std::vector<int64_t> changes{1};
  constexpr int64_t kLastRows = 2048;
  for (int64_t rows = 2; rows <= kLastRows; ++rows) {
    if (handle.chosen(shape, rows) != handle.chosen(shape, rows - 1)) changes.push_back(rows);
  }
  return list(changes, [&](int64_t rows) {
    return "{\"algorithm\":" + std::to_string(handle.chosen(shape, rows)) +
           ",\"rows_from\":" + std::to_string(rows) + "}";
  });
}

// Only a class handle has proven something that a digest could stand for.
std::string digest_text(const GemmHandle& handle, const ClassTable& table) {
  if (handle.kind() != BMK_GEMM_CLASS) return "null";
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(table.digest));
  return quoted(text);
}

std::string shape_text(const GemmHandle& handle, const GemmHandle::Shape& entry) {
  const bmk_gemm_shape& shape = entry.shape;
  const auto number = [](int64_t value) { return std::to_string(value); };
  return "{\"algorithms\":" + algorithms_text(entry.table) +
         ",\"class_digest\":" + digest_text(handle, entry.table) + ",\"k\":" + number(shape.k) +
         ",\"n\":" + number(shape.n) + ",\"row_counts\":" + list(entry.row_counts, number) +
         ",\"table\":" + table_text(handle, shape) + ",\"w_dtype\":" + name_of_type(shape.w_dtype) +
         ",\"w_stride\":" + number(shape.w_stride) + ",\"x_dtype\":" + name_of_type(shape.x_dtype) +
         ",\"x_stride\":" + number(shape.x_stride) + ",\"y_dtype\":" + name_of_type(shape.y_dtype) +
         ",\"y_stride\":" + number(shape.y_stride) + "}";
}

}  // namespace

std::string describe(const GemmHandle& handle) {
  return "{\"device\":" + quoted(processor_name()) +
         ",\"instruction_set\":" + quoted(handle.device().instruction_set.name) +
         ",\"kind\":" + quoted(name_of(handle.kind())) + ",\"library\":\"branchmark-kernels-cpu\"" +
         ",\"num_threads\":" + std::to_string(handle.device().workers.num_threads()) + ",\"shapes\":" +
         list(handle.shapes(), [&](const GemmHandle::Shape& entry) { return shape_text(handle, entry); }) +
         "}";
}

}  // namespace branchmark::cpu
