// Which tensors a model has and where each stands in device memory. The checkpoint loader and the generator
// of synthetic weights both walk this list, so they cannot place a tensor differently.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "branchmark/model/config.hpp"
#include "branchmark/model/weights.hpp"

namespace branchmark {

// What a tensor is for; synthetic scales follow from it.
enum class TensorRole {
  embedding,
  norm,         // applied as 1 + w
  head_norm,    // query and key norm, applied as 1 + w
  gdn_norm,     // applied as w
  projection,   // of a normalised input
  beta,         // in_proj_b
  to_residual,  // projections that are added to the residual stream
  conv,
  a_log,
  dt_bias
};

// A tensor of a checkpoint: rows [first_row, first_row + rows) of its stack.
struct TensorPart {
  std::string name;                 // without the checkpoint's prefix
  std::vector<std::int64_t> shape;  // as stored
  TensorRole role{};
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
};

// One device matrix and the tensors that it is made of, in order of first_row. Rows that no part covers and
// columns past `columns` are zero.
struct TensorStack {
  bmk_matrix Weights::*in_model = nullptr;       // set, or
  bmk_matrix LayerWeights::*in_layer = nullptr;  // set, for `layer`
  std::int64_t layer = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::vector<TensorPart> parts;

  bool has_padding() const;
  std::int64_t bytes(bmk_dtype dtype) const { return rows * row_stride * size_of(dtype); }
  bmk_matrix matrix_at(void* data, bmk_dtype dtype) const {
    return {data, rows, columns, row_stride, dtype, 0};
  }
  // The member of `weights` that this stack fills; weights.layers is sized already.
  bmk_matrix& slot(Weights& weights) const {
    return in_model != nullptr ? weights.*in_model
                               : weights.layers[static_cast<std::size_t>(layer)].*in_layer;
  }
};

std::vector<TensorStack> tensor_stacks(const ModelConfig& config);

// The type that synthetic weights store a stack in: float32 for the small vectors that real checkpoints of
// the family keep so (A_log, dt_bias and the GDN norm), else bf16.
bmk_dtype synthetic_dtype(const TensorStack& stack);

}  // namespace branchmark
