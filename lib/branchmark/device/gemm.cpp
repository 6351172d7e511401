#include "branchmark/device/gemm.hpp"

#include <fmt/format.h>

#include <utility>

namespace branchmark {

std::string_view name_of(GemmKind kind) {
  switch (kind) {
    case GemmKind::default_choice:
      return "default";
    case GemmKind::fixed:
      return "fixed";
    case GemmKind::fastest_of_class:
      return "class";
  }
  return "default";
}

Gemm::Gemm(std::shared_ptr<Context> context, const GemmOptions& options)
    : context_(std::move(context)), kind_(options.kind) {
  const auto cache_file = options.cache_file.string();
  const bmk_gemm_options gemm_options{.struct_size = sizeof(bmk_gemm_options),
                                      .kind = static_cast<bmk_gemm_kind>(options.kind),
                                      .trust_cache = options.trust_cache ? 1 : 0,
                                      .cache_file = cache_file.c_str()};
  context_->call("gemm.create", context_->table().gemm->create, context_->device(), &gemm_options, &gemm_);
}

Gemm::~Gemm() {
  if (gemm_ == nullptr) return;
  ++context_->counters().calls;
  context_->table().gemm->destroy(gemm_);
}

Gemm::Gemm(Gemm&& other) noexcept
    : context_(std::move(other.context_)), gemm_(std::exchange(other.gemm_, nullptr)), kind_(other.kind_) {}

void Gemm::prepare(const bmk_gemm_shape& shape, std::span<const std::int64_t> row_counts) {
  context_->call("gemm.prepare", context_->table().gemm->prepare, gemm_, context_->stream(), &shape,
                 row_counts.data(), static_cast<std::int64_t>(row_counts.size()));
}

void Gemm::run(const bmk_matrix& x, const bmk_matrix& w, const bmk_matrix& y) {
  ++context_->counters().gemms;
  const bmk_gemm_args args{.struct_size = sizeof(bmk_gemm_args), .x = x, .w = w, .y = y};
  ++context_->counters().calls;
  const auto status = context_->table().gemm->run(gemm_, context_->stream(), &args);
  if (status != BMK_OK)
    context_->check(fmt::format("{} GEMM with N={}, K={}, M={}", name_of(kind_), w.rows, w.columns, x.rows),
                    status);
}

std::int64_t Gemm::num_algorithms(const bmk_gemm_shape& shape) {
  std::int64_t count = 0;
  context_->call("gemm.num_algorithms", context_->table().gemm->num_algorithms, gemm_, &shape, &count);
  return count;
}

bmk_gemm_algorithm Gemm::algorithm(const bmk_gemm_shape& shape, std::int64_t index) {
  bmk_gemm_algorithm algorithm{};
  algorithm.struct_size = sizeof algorithm;
  context_->call("gemm.describe_algorithm", context_->table().gemm->describe_algorithm, gemm_, &shape, index,
                 &algorithm);
  return algorithm;
}

void Gemm::run_algorithm(const bmk_matrix& x, const bmk_matrix& w, const bmk_matrix& y, std::int64_t index) {
  ++context_->counters().gemms;
  const bmk_gemm_args args{.struct_size = sizeof(bmk_gemm_args), .x = x, .w = w, .y = y};
  context_->call("gemm.run_algorithm", context_->table().gemm->run_algorithm, gemm_, context_->stream(),
                 &args, index);
}

std::int64_t Gemm::chosen_algorithm(const bmk_gemm_shape& shape, std::int64_t rows) {
  std::int64_t index = 0;
  context_->call("gemm.chosen_algorithm", context_->table().gemm->chosen_algorithm, gemm_, &shape, rows,
                 &index);
  return index;
}

std::string Gemm::describe() {
  std::int64_t length = 0;
  const auto describe = context_->table().gemm->describe;
  context_->call("gemm.describe", describe, gemm_, static_cast<char*>(nullptr), std::int64_t{0}, &length);
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  context_->call("gemm.describe", describe, gemm_, text.data(), length + 1, &length);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

bmk_gemm_shape shape_of(const bmk_matrix& x, const bmk_matrix& w, const bmk_matrix& y) {
  return {.n = w.rows,
          .k = w.columns,
          .x_stride = x.row_stride,
          .w_stride = w.row_stride,
          .y_stride = y.row_stride,
          .x_dtype = x.dtype,
          .w_dtype = w.dtype,
          .y_dtype = y.dtype,
          .reserved = 0};
}

}  // namespace branchmark
