// Inputs of the preparation of attention, and a run over two sequences of them.
#pragma once

#include <cstdint>
#include <vector>

#include "sequence/array.hpp"
#include "sequence/compare.hpp"
#include "sequence/packing.hpp"
#include "workers.hpp"

namespace branchmark::cpu::test {

struct Prepared {
  Array query;
  Array keys;
  Array values;
};

inline constexpr int64_t kPrepareRows = 9;
inline constexpr int64_t kQueryHeads = 3;
inline constexpr int64_t kKvHeads = 1;

struct PrepareInput {
  Array projection, query_norm, key_norm, cosines, sines;
  std::vector<int32_t> positions;  // [3, rows]
};

inline PrepareInput prepare_input(bmk_dtype type) {
  PrepareInput input = {normal_array(type, kPrepareRows, 512 * (kQueryHeads + kKvHeads), 50, 2.0f),
                        normal_array(BMK_BF16, 1, 256, 51, 0.3f),
                        normal_array(BMK_F32, 1, 256, 52, 0.3f),
                        normal_array(type, 40, 32, 53),
                        normal_array(type, 40, 32, 54),
                        {}};
  for (int32_t axis = 0; axis < 3; ++axis) {
    for (int32_t r = 0; r < kPrepareRows; ++r) input.positions.push_back(10 * axis + (axis == 0 ? r : r / 3));
  }
  return input;
}

// Two sequences, of 4 and 5 rows; the second begins at position 64 of its prompt.
inline Prepared run_prepare(const PrepareInput& input, bmk_numerics numerics) {
  const bmk_dtype type = activation(numerics);
  Packing packing;
  packing.add(0, 4);
  packing.add(64, 5);
  Prepared result = {Array(type, kPrepareRows, 256 * kQueryHeads), Array(type, 4, 256 * kKvHeads),
                     Array(type, 4, 256 * kKvHeads)};
  Array second_keys(type, 5, 256 * kKvHeads), second_values(type, 5, 256 * kKvHeads);
  void* keys[] = {result.keys.data(), second_keys.data()};
  void* values[] = {result.values.data(), second_values.data()};
  bmk_attention_prepare_args args = {};
  args.numerics = numerics;
  args.eps = 1e-6f;
  args.query_heads = kQueryHeads;
  args.kv_heads = kKvHeads;
  args.sequences = packing.view();
  args.projection = input.projection.view();
  args.query_norm = input.query_norm.view();
  args.key_norm = input.key_norm.view();
  args.cosines = input.cosines.view();
  args.sines = input.sines.view();
  args.positions = input.positions.data();
  args.section_height = 11;
  args.section_width = 10;
  args.query = result.query.view();
  args.key_out = keys;
  args.value_out = values;
  Workers workers(2);
  ops::attention_prepare(workers, args);
  result.keys.append(second_keys);
  result.values.append(second_values);
  return result;
}

}  // namespace branchmark::cpu::test
