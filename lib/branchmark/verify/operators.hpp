// The check `operators`: every op of a kernel module against a float64 oracle, and each op's promises about
// bits.
//
// One case list serves every module. A case makes seeded inputs, puts NaN into outputs, workspace and
// whatever lies behind the inputs, runs the op and judges what it finds. Parameters of a case: op, fact,
// numerics where the op has them, sizes. Facts:
//   accuracy     within the op's tolerance of the oracle
//   row_bits     a row's bits do not depend on the number of rows or the row's place in the call
//   packed       packed sequences have the bits of each run alone, also beside one full of NaN
//   continued    resuming at any multiple of 64 has the bits of a single pass, captured states included
//   stale_rows   what lies behind the rows of a sequence or of a segment of keys changes no bit
// and a few of single ops, told where they are made. A case whose op the module answers with BMK_UNSUPPORTED
// is skipped with the reason op_unsupported.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "branchmark/verify/case.hpp"
#include "branchmark/verify/context_source.hpp"

namespace branchmark {

struct OperatorOptions {
  // Adds cases of the sizes of the 9B preset, and up to 8,192 rows: for devices that are quick enough.
  bool full = false;
  std::uint64_t seed = 1;
};

// Lists the cases; `context` is asked for by their run functions only.
std::vector<Case> operator_cases(ContextSource context, const OperatorOptions& options = {});

}  // namespace branchmark
