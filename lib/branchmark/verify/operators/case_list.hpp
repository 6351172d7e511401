// The list of operator cases as it is built, and the functions that add each op's cases to it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "branchmark/base/random.hpp"
#include "branchmark/verify/case.hpp"
#include "branchmark/verify/operators.hpp"
#include "branchmark/verify/operators/verdict.hpp"

namespace branchmark::operators {

// What a case's body works with.
struct Bench {
  std::shared_ptr<Context> context;
  Random random;  // seeded by the run's seed and the case's key
};

class CaseList {
 public:
  CaseList(ContextSource context, const OperatorOptions& options)
      : context_(std::move(context)), options_(options) {}

  bool full() const { return options_.full; }

  // `numerics` is absent for ops that have none. The body plans, runs and compares through the verdict.
  void add(const std::string& op, const std::string& fact, std::optional<bmk_numerics> numerics,
           const Parameters& sizes, std::function<void(Bench&, Verdict&)> body);

  std::vector<Case> take() { return std::move(cases_); }

 private:
  ContextSource context_;
  OperatorOptions options_;
  std::vector<Case> cases_;
};

inline constexpr bmk_numerics kAllNumerics[] = {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_GDN_FP32,
                                                BMK_NUMERICS_REFERENCE};

void add_embed(CaseList& list);
void add_index_rows(CaseList& list);
void add_copy_2d(CaseList& list);
void add_synthetic_fill(CaseList& list);
void add_non_finite_scan(CaseList& list);
void add_rms_norm(CaseList& list);
void add_add_rms_norm(CaseList& list);
void add_gated_rms_norm(CaseList& list);
void add_silu_mul(CaseList& list);
void add_gdn_gates(CaseList& list);
void add_lora_delta(CaseList& list);
void add_gemm(CaseList& list);
void add_conv(CaseList& list);
void add_gdn_prefill(CaseList& list);
void add_attention_prepare(CaseList& list);
void add_gated_attention(CaseList& list);

}  // namespace branchmark::operators
