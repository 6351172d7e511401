// Runs attention over pieces of an input, packed, with the keys of their ancestors in segments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sequence/array.hpp"
#include "sequence/packing.hpp"
#include "workers.hpp"

namespace branchmark::cpu::test {

struct AttentionInput {
  int64_t query_heads;
  int64_t kv_heads;
  Array query;
  Array gates;  // 512 a head, of which the last 256 are read
  Array keys;
  Array values;
  int64_t rows() const { return query.rows(); }
};

inline AttentionInput attention_input(bmk_dtype type, int64_t rows, int64_t query_heads, int64_t kv_heads,
                                      uint64_t seed) {
  return {query_heads,
          kv_heads,
          normal_array(type, rows, 256 * query_heads, seed, 1.5f),
          normal_array(type, rows, 512 * query_heads, seed + 1),
          normal_array(type, rows, 256 * kv_heads, seed + 2, 1.5f),
          normal_array(type, rows, 256 * kv_heads, seed + 3)};
}

// Rows [first, first + rows) of an input; their ancestors' keys are cut into segments at `seams`.
struct AttentionPiece {
  int64_t first;
  int64_t rows;
  std::vector<int64_t> seams;
};

inline std::vector<Array> run_attention(const AttentionInput& input,
                                        const std::vector<AttentionPiece>& pieces, bmk_numerics numerics,
                                        int64_t num_threads = 1) {
  Packing packing;
  Array query = input.query.slice(0, 0);
  Array gates = input.gates.slice(0, 0);
  std::vector<Array> segments;
  std::vector<int64_t> offsets = {0};
  std::vector<int64_t> first_position, length;
  int64_t max_positions = 0;
  for (const AttentionPiece& piece : pieces) {
    packing.add(piece.first, piece.rows);
    query.append(input.query.slice(piece.first, piece.rows));
    gates.append(input.gates.slice(piece.first, piece.rows));
    std::vector<int64_t> bounds = {0};
    bounds.insert(bounds.end(), piece.seams.begin(), piece.seams.end());
    if (piece.first > 0) bounds.push_back(piece.first);
    bounds.push_back(piece.first + piece.rows);
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
      first_position.push_back(bounds[i]);
      length.push_back(bounds[i + 1] - bounds[i]);
      segments.push_back(input.keys.slice(bounds[i], length.back()));
      segments.push_back(input.values.slice(bounds[i], length.back()));
    }
    offsets.push_back(static_cast<int64_t>(length.size()));
    max_positions = std::max(max_positions, piece.first + piece.rows);
  }
  std::vector<const void*> keys, values;
  for (size_t i = 0; i < segments.size(); i += 2) {
    keys.push_back(segments[i].data());
    values.push_back(segments[i + 1].data());
  }
  Array out(query.view().dtype, query.rows(), query.columns());
  bmk_gated_attention_args args = {};
  args.numerics = numerics;
  args.query_heads = input.query_heads;
  args.kv_heads = input.kv_heads;
  args.sequences = packing.view();
  args.query = query.view();
  args.gate = gates.columns_from(256, 512 * (input.query_heads - 1) + 256);
  args.gate_head_stride = 512;
  args.out = out.view();
  args.num_segments = static_cast<int64_t>(length.size());
  args.max_positions = max_positions;
  args.segment_offsets = offsets.data();
  args.segment_keys = keys.data();
  args.segment_values = values.data();
  args.segment_first_position = first_position.data();
  args.segment_length = length.data();
  std::vector<uint8_t> workspace(static_cast<size_t>(ops::gated_attention_workspace(args, num_threads)),
                                 0xFF);
  args.workspace = workspace.data();
  args.workspace_bytes = static_cast<int64_t>(workspace.size());
  Workers workers(num_threads);
  ops::gated_attention(workers, args);
  std::vector<Array> results;
  int64_t row = 0;
  for (const AttentionPiece& piece : pieces) {
    results.push_back(out.slice(row, piece.rows));
    row += piece.rows;
  }
  return results;
}

inline Array run_attention(const AttentionInput& input, bmk_numerics numerics) {
  return run_attention(input, {{0, input.rows(), {}}}, numerics)[0];
}

}  // namespace branchmark::cpu::test
