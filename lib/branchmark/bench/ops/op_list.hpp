// The ops that are timed: every op of the kernel ABI and every projection, at the sizes that the model gives
// them.
//
// Row counts are the scenario's single passes. Ops over sequences are timed on a whole prompt of each of
// these, on the many short branches of the scenario's shared prompts behind their prefix, and gdn_prefill
// also on the shapes that others publish (1 x 2,048 and 8 x 1,024), where they are no larger than the longest
// single pass.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "branchmark/bench/ops/operands.hpp"
#include "branchmark/report/case_record.hpp"
#include "branchmark/scenario/scenario.hpp"

namespace branchmark::ops {

struct OpSpec {
  std::string block;      // what is sampled in the same rounds: an op, a projection
  Parameters parameters;  // name=..., then what tells it from others, tokens=..., seed=...
  std::function<OpWork(Operands&)> make;
};

// Equally long sequences behind one prefix.
struct SequencesShape {
  std::int64_t sequences = 1;
  std::int64_t prefix_tokens = 0;  // a multiple of 64
  std::int64_t tokens = 0;         // of each sequence

  std::int64_t num_rows() const { return sequences * tokens; }
  std::vector<operators::SequenceSpan> spans() const {
    return {static_cast<std::size_t>(sequences), {.rows = tokens, .first_position = prefix_tokens}};
  }
};

class OpList {
 public:
  // `scenario` has a bench block.
  OpList(const Scenario& scenario, std::uint64_t seed);

  const std::vector<std::int64_t>& row_counts() const { return row_counts_; }
  const std::vector<SequencesShape>& shapes() const { return shapes_; }
  // The default handle and those of the scenario.
  const std::vector<GemmKind>& handles() const { return handles_; }
  bool has_room_for(const SequencesShape& shape) const { return shape.num_rows() <= row_counts_.back(); }

  // A case for each row count; `more` stands between the name and the tokens.
  void add_rows(const std::string& name, const Parameters& more, const std::string& block,
                const std::function<OpWork(Operands&, std::int64_t rows)>& make);
  void add_shape(const std::string& name, const SequencesShape& shape,
                 const std::function<OpWork(Operands&, const SequencesShape&)>& make);

  std::vector<OpSpec> take() { return std::move(specs_); }

 private:
  std::vector<std::int64_t> row_counts_;  // ascending
  std::vector<SequencesShape> shapes_;
  std::vector<GemmKind> handles_;
  std::uint64_t seed_;
  std::vector<OpSpec> specs_;
};

void add_row_moves(OpList& list);        // embed, gather_rows, scatter_rows, copy_2d, synthetic_fill, scan
void add_norms(OpList& list);            // rms_norm, add_rms_norm, gated_rms_norm
void add_activations(OpList& list);      // silu_mul, gdn_gates
void add_projections(OpList& list);      // gemm, lora_delta
void add_sequence_mixers(OpList& list);  // conv, gdn_prefill
void add_attention(OpList& list);        // attention_prepare, gated_attention

// All of them.
std::vector<OpSpec> op_specs(const Scenario& scenario, std::uint64_t seed);

}  // namespace branchmark::ops
