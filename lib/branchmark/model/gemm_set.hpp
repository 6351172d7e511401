// The GEMM handles of a model, and the shapes that they have been made ready for.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "branchmark/device/gemm.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/model/weights.hpp"

namespace branchmark {

struct GemmSetOptions {
  bool trust_cache = false;
  std::filesystem::path cache_file;  // empty: none
};

class GemmSet {
 public:
  // Touches no device: handles are made on first use.
  GemmSet(std::shared_ptr<Context> context, std::vector<bmk_gemm_shape> shapes, GemmSetOptions options);

  // The handle, ready for passes of these numbers of rows. Each is checked against the fixed algorithm once.
  // Throws unserved_size naming N, K and M before any of them is run.
  Gemm& ready(GemmKind kind, std::span<const std::int64_t> row_counts);
  const std::vector<bmk_gemm_shape>& shapes() const { return shapes_; }
  // Descriptions of the handles made so far, by kind's name.
  std::vector<std::pair<std::string, std::string>> describe();

 private:
  struct Handle {
    std::optional<Gemm> gemm;
    std::set<std::int64_t> rows_ready;
  };
  std::shared_ptr<Context> context_;
  std::vector<bmk_gemm_shape> shapes_;
  GemmSetOptions options_;
  std::array<Handle, 3> handles_;
};

// The distinct products of a model: mixer inputs and outputs, gate|up and down, for activations of one type.
std::vector<bmk_gemm_shape> gemm_shapes(const ModelConfig& config, const Weights& weights,
                                        bmk_dtype activation);

}  // namespace branchmark
