// Runs the convolution over pieces of an input, packed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sequence/array.hpp"
#include "sequence/packing.hpp"
#include "workers.hpp"

namespace branchmark::cpu::test {

// A piece of an input: rows [first, first + rows) of it, as one sequence of a packed call. What came before
// it is the input's own rows, or nothing where it is the prompt's start.
struct ConvPiece {
  int64_t first;
  int64_t rows;
  int64_t history_at;  // -1: not wanted
};

struct ConvResult {
  Array out;
  Array history;
};

inline std::vector<ConvResult> run_conv(const Array& x, const Array& weight,
                                        const std::vector<ConvPiece>& pieces, int64_t num_threads = 1) {
  const bmk_dtype type = x.view().dtype;
  Packing packing;
  Array packed(type, 0, x.columns());
  std::vector<Array> before;
  std::vector<ConvResult> results;
  for (const ConvPiece& piece : pieces) {
    packing.add(piece.first, piece.rows);
    packed.append(x.slice(piece.first, piece.rows));
    before.push_back(x.slice(std::max<int64_t>(piece.first - 3, 0), piece.first == 0 ? 0 : 3));
    results.push_back({Array(type, 0, x.columns()), Array(type, 3, x.columns())});
  }
  std::vector<const void*> history_in;
  std::vector<void*> history_out;
  std::vector<int64_t> history_at;
  for (size_t s = 0; s < pieces.size(); ++s) {
    history_in.push_back(before[s].rows() == 0 ? nullptr : before[s].data());
    history_out.push_back(pieces[s].history_at < 0 ? nullptr : results[s].history.data());
    history_at.push_back(pieces[s].history_at);
  }
  Array out(type, packed.rows(), x.columns());
  bmk_conv_args args = {};
  args.sequences = packing.view();
  args.x = packed.view();
  args.weight = weight.view();
  args.out = out.view();
  args.history_in = history_in.data();
  args.history_out = history_out.data();
  args.history_at = history_at.data();
  Workers workers(num_threads);
  ops::conv(workers, args);
  int64_t row = 0;
  for (size_t s = 0; s < pieces.size(); ++s) {
    results[s].out = out.slice(row, pieces[s].rows);
    row += pieces[s].rows;
  }
  return results;
}

}  // namespace branchmark::cpu::test
