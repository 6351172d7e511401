// Runs the gated delta rule over pieces of inputs, packed, each continued from a state.
#pragma once

#include <cstdint>
#include <vector>

#include "sequence/array.hpp"
#include "sequence/packing.hpp"
#include "workers.hpp"

namespace branchmark::cpu::test {

inline constexpr int64_t kStateSize = BMK_GDN_HEAD_DIM * BMK_GDN_HEAD_DIM;

struct GdnInput {
  int64_t key_heads;
  int64_t value_heads;
  Array qkv;
  Array g;
  Array beta;
  int64_t rows() const { return qkv.rows(); }
};

// Tokens of order one; decays from almost none to fast, as trained heads have them.
inline GdnInput gdn_input(bmk_dtype type, int64_t rows, int64_t key_heads, int64_t value_heads,
                          uint64_t seed) {
  Random random(seed);
  return {key_heads, value_heads, normal_array(type, rows, 128 * (2 * key_heads + value_heads), seed + 1),
          Array(BMK_F32, rows, value_heads).fill([&](int64_t, int64_t h) {
            return -random.uniform() * (h % 2 == 0 ? 0.02f : 1.5f);
          }),
          Array(BMK_F32, rows, value_heads).fill([&](int64_t, int64_t) {
            return ops::round_bf16(random.uniform());
          })};
}

// Rows [first, first + rows) of an input, continued from a state, as one sequence of a packed call.
struct GdnPiece {
  const GdnInput* input;
  int64_t first;
  int64_t rows;
  const Array* state_in;  // nullptr: zeros
  int64_t state_at;       // -1: not wanted
};

struct GdnResult {
  Array out;
  Array state;  // one row a head
};

inline std::vector<GdnResult> run_gdn(const std::vector<GdnPiece>& pieces, bmk_numerics numerics,
                                      int64_t num_threads = 1) {
  const int64_t key_heads = pieces[0].input->key_heads;
  const int64_t value_heads = pieces[0].input->value_heads;
  Packing packing;
  Array qkv = pieces[0].input->qkv.slice(0, 0);
  Array g(BMK_F32, 0, value_heads), beta(BMK_F32, 0, value_heads);
  std::vector<GdnResult> results;
  for (const GdnPiece& piece : pieces) {
    packing.add(piece.first, piece.rows);
    qkv.append(piece.input->qkv.slice(piece.first, piece.rows));
    g.append(piece.input->g.slice(piece.first, piece.rows));
    beta.append(piece.input->beta.slice(piece.first, piece.rows));
    results.push_back({qkv.slice(0, 0), Array(BMK_F32, value_heads, kStateSize)});
  }
  std::vector<const float*> state_in;
  std::vector<float*> state_out;
  std::vector<int64_t> state_at;
  for (size_t s = 0; s < pieces.size(); ++s) {
    const Array* state = pieces[s].state_in;
    state_in.push_back(state == nullptr ? nullptr : static_cast<const float*>(state->data()));
    state_out.push_back(pieces[s].state_at < 0 ? nullptr : static_cast<float*>(results[s].state.data()));
    state_at.push_back(pieces[s].state_at);
  }
  Array out(qkv.view().dtype, qkv.rows(), 128 * value_heads);
  bmk_gdn_prefill_args args = {};
  args.numerics = numerics;
  args.key_heads = key_heads;
  args.value_heads = value_heads;
  args.sequences = packing.view();
  args.qkv = qkv.view();
  args.g = g.view();
  args.beta = beta.view();
  args.out = out.view();
  args.state_in = state_in.data();
  args.state_out = state_out.data();
  args.state_at = state_at.data();
  std::vector<uint8_t> workspace(static_cast<size_t>(ops::gdn_prefill_workspace(args, num_threads)), 0xFF);
  args.workspace = workspace.data();
  args.workspace_bytes = static_cast<int64_t>(workspace.size());
  Workers workers(num_threads);
  ops::gdn_prefill(workers, args);
  int64_t row = 0;
  for (size_t s = 0; s < pieces.size(); ++s) {
    results[s].out = out.slice(row, pieces[s].rows);
    row += pieces[s].rows;
  }
  return results;
}

}  // namespace branchmark::cpu::test
