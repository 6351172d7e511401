// Inputs of a GDN's gates, and a run over them.
#pragma once

#include <cstdint>

#include "sequence/array.hpp"
#include "workers.hpp"

namespace branchmark::cpu::test {

inline constexpr int64_t kGatesRows = 70;
inline constexpr int64_t kGatesHeads = 24;

struct GatesInput {
  Array a, b, a_log, dt_bias;
};

inline GatesInput gates_input(bmk_dtype type) {
  return {normal_array(type, kGatesRows, kGatesHeads, 8, 20.0f),
          normal_array(type, kGatesRows, kGatesHeads, 9, 5.0f), normal_array(BMK_F32, 1, kGatesHeads, 10),
          normal_array(BMK_BF16, 1, kGatesHeads, 11)};
}

struct Gates {
  Array g, beta;
};

inline Gates run_gates(const GatesInput& input) {
  Gates gates = {Array(BMK_F32, kGatesRows, kGatesHeads), Array(BMK_F32, kGatesRows, kGatesHeads)};
  bmk_gdn_gates_args args = {};
  args.a = input.a.view();
  args.b = input.b.view();
  args.a_log = input.a_log.view();
  args.dt_bias = input.dt_bias.view();
  args.g = gates.g.view();
  args.beta = gates.beta.view();
  Workers workers(2);
  ops::gdn_gates(workers, args);
  return gates;
}

}  // namespace branchmark::cpu::test
