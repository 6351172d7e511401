// Owner of one GEMM handle of a module.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "branchmark/device/context.hpp"

namespace branchmark {

enum class GemmKind : bmk_gemm_kind {
  default_choice = BMK_GEMM_DEFAULT,
  fixed = BMK_GEMM_FIXED,
  fastest_of_class = BMK_GEMM_CLASS,
};

// "default", "fixed", "class": the words of scenarios and reports.
std::string_view name_of(GemmKind kind);

struct GemmOptions {
  GemmKind kind = GemmKind::fixed;
  bool trust_cache = false;
  std::filesystem::path cache_file;  // empty: no cache
};

// Move-only; destruction is silent.
class Gemm {
 public:
  Gemm(std::shared_ptr<Context> context, const GemmOptions& options);
  ~Gemm();
  Gemm(Gemm&& other) noexcept;
  Gemm& operator=(Gemm&&) = delete;

  GemmKind kind() const noexcept { return kind_; }

  // Searches and proves what the shape needs; may allocate, run products and synchronise.
  void prepare(const bmk_gemm_shape& shape, std::span<const std::int64_t> row_counts);
  // Queues y = x · wᵀ. Throws unserved_size, with N, K and M in the message, where the fixed algorithm
  // cannot.
  void run(const bmk_matrix& x, const bmk_matrix& w, const bmk_matrix& y);

  std::int64_t num_algorithms(const bmk_gemm_shape& shape);
  bmk_gemm_algorithm algorithm(const bmk_gemm_shape& shape, std::int64_t index);
  void run_algorithm(const bmk_matrix& x, const bmk_matrix& w, const bmk_matrix& y, std::int64_t index);
  std::int64_t chosen_algorithm(const bmk_gemm_shape& shape, std::int64_t rows);
  // The module's JSON description of the handle.
  std::string describe();

 private:
  std::shared_ptr<Context> context_;
  bmk_gemm* gemm_ = nullptr;
  GemmKind kind_;
};

// The shape that a product of these operands has.
bmk_gemm_shape shape_of(const bmk_matrix& x, const bmk_matrix& w, const bmk_matrix& y);

}  // namespace branchmark
