#include "branchmark/verify/operators.hpp"

#include <utility>

#include "branchmark/verify/operators/case_list.hpp"

namespace branchmark {

std::vector<Case> operator_cases(ContextSource context, const OperatorOptions& options) {
  operators::CaseList list(std::move(context), options);
  operators::add_embed(list);
  operators::add_index_rows(list);
  operators::add_copy_2d(list);
  operators::add_synthetic_fill(list);
  operators::add_non_finite_scan(list);
  operators::add_rms_norm(list);
  operators::add_add_rms_norm(list);
  operators::add_gated_rms_norm(list);
  operators::add_silu_mul(list);
  operators::add_gdn_gates(list);
  operators::add_lora_delta(list);
  operators::add_gemm(list);
  operators::add_conv(list);
  operators::add_gdn_prefill(list);
  operators::add_attention_prepare(list);
  operators::add_gated_attention(list);
  return list.take();
}

}  // namespace branchmark
