// Float64 reference of the gated delta rule: the recurrence itself, token by token (arXiv 2412.06464).
//
// Never chunked: a chunked reference would share the algebra, and so the faults, of the kernels under test.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "branchmark/verify/host_matrix.hpp"

namespace branchmark::oracle {

// One sequence. qkv [rows, 2 · 128 · key_heads + 128 · value_heads]; g and beta [rows, value_heads].
struct GatedDeltaInputs {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  const HostMatrix* qkv = nullptr;
  const HostMatrix* g = nullptr;
  const HostMatrix* beta = nullptr;
  std::span<const float> state_in;  // [value_heads, 128 key dims, 128 value dims]; empty: zeros
};

struct GatedDeltaOutputs {
  std::vector<double> out;    // [rows, 128 · value_heads]
  std::vector<double> state;  // [value_heads, 128, 128], after `state_at` rows
};

// q, k ← x · rsqrt(Σx² + 1e-6), q also · 128^-1/2; then per token and value head
// S ← e^g S; u = beta (v − Sᵀk); S ← S + k uᵀ; o = Sᵀq. Value head h reads key head ⌊h · key_heads /
// value_heads⌋. 0 <= state_at <= rows.
GatedDeltaOutputs gated_delta(const GatedDeltaInputs& inputs, std::int64_t state_at);

}  // namespace branchmark::oracle
