#include "gemm/handle.hpp"

#include <algorithm>

#include "entry/boundary.hpp"

namespace branchmark::cpu {
namespace {

bool same(const bmk_gemm_shape& a, const bmk_gemm_shape& b) {
  return a.n == b.n && a.k == b.k && a.x_stride == b.x_stride && a.w_stride == b.w_stride &&
         a.y_stride == b.y_stride && a.x_dtype == b.x_dtype && a.w_dtype == b.w_dtype &&
         a.y_dtype == b.y_dtype;
}

std::string text_of(const bmk_gemm_shape& shape) {
  return "N = " + std::to_string(shape.n) + ", K = " + std::to_string(shape.k);
}

int64_t choice_of_default(int64_t rows) {
  if (rows <= 16) return kGemmSplit4;
  if (rows <= 64) return kGemmSplit2;
  if (rows <= 256) return kGemmPaired;
  return kGemmFixed;
}

}  // namespace

const GemmHandle::Shape* GemmHandle::find(const bmk_gemm_shape& shape) const {
  const auto found = std::find_if(shapes_.begin(), shapes_.end(),
                                  [&](const Shape& candidate) { return same(candidate.shape, shape); });
  return found == shapes_.end() ? nullptr : &*found;
}

ClassTable GemmHandle::make_table(const bmk_gemm_shape& shape) {
  ClassTable table;
  table.in_class[kGemmFixed] = true;
  if (kind_ == BMK_GEMM_CLASS) {
    table = prove_class(runner_, shape);
    time_class(runner_, shape, table);
  }
  return table;
}

void GemmHandle::prepare(const bmk_gemm_shape& shape, const int64_t* row_counts, int64_t num_row_counts) {
  for (int64_t i = 0; i < num_row_counts; ++i) {
    if (row_counts[i] >= 1) continue;
    throw Failure{BMK_UNSERVED_SIZE, "gemm: no algorithm serves " + text_of(shape) + ", M = " +
                                         std::to_string(row_counts[i]) + "; wanted at least 1 row"};
  }
  if (find(shape) == nullptr) shapes_.push_back({shape, {}, make_table(shape)});
  Shape& entry = shapes_[static_cast<std::size_t>(find(shape) - shapes_.data())];
  entry.row_counts.insert(row_counts, row_counts + num_row_counts);
}

const GemmHandle::Shape& GemmHandle::prepared(const bmk_gemm_shape& shape) const {
  if (const Shape* found = find(shape)) return *found;
  throw Failure{BMK_INVALID_ARGUMENT,
                "gemm: the shape " + text_of(shape) +
                    " with these strides and types was not prepared; call prepare first"};
}

int64_t GemmHandle::chosen(const bmk_gemm_shape& shape, int64_t rows) const {
  if (kind_ == BMK_GEMM_DEFAULT) return choice_of_default(rows);
  return prepared(shape).table.fastest[static_cast<std::size_t>(row_bucket(rows))];
}

}  // namespace branchmark::cpu
