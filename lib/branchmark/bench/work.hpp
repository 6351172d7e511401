// How much work a call is, by formula: floating-point operations and bytes of device memory. The numbers do
// not depend on the kernels, so that dividing them by a time rates any of them alike: work that a kernel adds
// (padding, recomputation) makes it slower and not better.
#pragma once

#include <cstdint>
#include <vector>

#include "branchmark/model/config.hpp"
#include "branchmark/model/execution_plan.hpp"

namespace branchmark {

// A count in arithmetic with rates.
inline double real(std::int64_t count) {
  return static_cast<double>(count);
}

// A sequence of a pass: tokens [first, first + rows) of its prompt.
struct SequenceShape {
  std::int64_t first = 0;
  std::int64_t rows = 0;
  bool captures = false;  // its state is written at its end
};

struct PassShape {
  std::vector<SequenceShape> sequences;
  std::int64_t num_rows() const;
};

// A whole prompt in one pass.
std::vector<PassShape> one_pass(std::int64_t tokens);
std::vector<PassShape> passes_of(const ExecutionPlan& plan);

struct Work {
  double gemm_flop = 0;
  double gdn_flop = 0;
  double attention_flop = 0;
  double bytes = 0;
  std::int64_t num_passes = 0;
  std::int64_t run_tokens = 0;

  double flop() const { return gemm_flop + gdn_flop + attention_flop; }
};

// Of passes of this model, activations being `activation_bytes` an element (2 for bf16) and weights bf16.
Work work_of(const ModelConfig& config, const std::vector<PassShape>& passes, std::int64_t activation_bytes);

// Operations of one value head of a gated delta net over a chunk of `rows` tokens.
double gdn_chunk_flop(std::int64_t rows);
// Operations of one query head over rows [first, first + rows), each seeing all tokens up to itself.
double attention_flop(std::int64_t first, std::int64_t rows);

}  // namespace branchmark
