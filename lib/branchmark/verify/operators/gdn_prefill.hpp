// The gated delta net as an op on pieces of prompts, with inputs of several kinds.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "branchmark/verify/operators/sequence_op.hpp"

namespace branchmark::operators {

struct GdnShape {
  bmk_numerics numerics = BMK_NUMERICS_DEFAULT;
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
};

enum class GdnData {
  typical,              // decays from nearly none to e^-3 a token, by head
  no_decay,             // g = 0 (K21)
  extreme_decay,        // g of a head is one of 0, -1e-6, -1, -20, -80, -1e4 throughout (K20)
  mixed_decay,          // the same values, at random from token to token, -1e4 once a chunk
  near_duplicate_keys,  // keys of a head differ by 20%, values at random, hardly a decay (K21)
  duplicate_keys,       // the same, by 0.5%
};
const char* name_of(GdnData data);

class GdnPrefill : public SequenceOp {
 public:
  struct Inputs {
    HostMatrix qkv;
    HostMatrix g;
    HostMatrix beta;
  };

  GdnPrefill(Bench& bench, const GdnShape& shape, GdnData data, const std::vector<std::int64_t>& prompt_rows);

  const Inputs& inputs(std::int64_t prompt) const { return prompts_[static_cast<std::size_t>(prompt)]; }

  std::int64_t prompt_rows(std::int64_t prompt) const override { return inputs(prompt).qkv.rows; }
  std::int64_t out_columns() const override { return BMK_GDN_HEAD_DIM * shape_.value_heads; }
  std::int64_t carried_elements() const override {
    return shape_.value_heads * BMK_GDN_HEAD_DIM * BMK_GDN_HEAD_DIM;
  }
  std::vector<PieceResult> run(Verdict& verdict, std::span<const Piece> pieces, Stale stale) override;
  void poison(std::int64_t prompt) override;

 private:
  std::shared_ptr<Context> context_;
  GdnShape shape_;
  std::vector<Inputs> prompts_;
};

}  // namespace branchmark::operators
