// How a prefix tree is executed: which token runs, from which captured state, in which packed pass.
//
// State is captured at multiples of 64 counted from the prompt's start: a node's prefix ends at 64 · ⌊n / 64⌋
// tokens, and the up to 63 left over run again with each child. Rounding down keeps the split independent of
// the siblings. A node whose rounded end is its parent's costs no run. A run's level is the number of
// captured states above it. Pure host-side values: planning touches no device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/model/prefix_tree.hpp"

namespace branchmark {

enum class Packing {
  packed,      // one pass a level: weights are read once per level
  per_branch,  // one pass a run: the baseline
};
std::string_view name_of(Packing packing);

// Tokens [first, last) of one root-to-leaf path, run once.
struct PlannedRun {
  std::string path;        // of the node
  Prompt tokens;           // the run's own tokens; positions explicit or empty
  std::int64_t first = 0;  // a multiple of 64: where the parent's state was captured
  std::int64_t last = 0;
  std::int64_t parent_run = -1;  // the run whose captured state it continues from; -1: from the start
  bool captures = false;         // captures its state at `last`
  std::int64_t prompt = -1;      // whose result row is the run's last; -1: none
  std::int64_t level = 0;
  std::int64_t rows() const { return last - first; }
};

struct PlannedPass {
  std::vector<std::int64_t> runs;
  std::vector<std::int64_t> released;  // runs whose states no later pass reads
};

// Bytes that one captured state takes: fixed + per_row · rows of its own run, rounded up to the step in which
// their memory is held.
struct StateCost {
  std::int64_t fixed_bytes = 0;
  std::int64_t bytes_per_row = 0;
  std::int64_t row_step = 1;
  std::int64_t bytes(std::int64_t rows) const {
    return fixed_bytes + (rows + row_step - 1) / row_step * row_step * bytes_per_row;
  }
};

struct PlanOptions {
  Packing packing = Packing::packed;
  std::int64_t max_pass_rows = 16384;  // a level with more rows takes several passes; no bit depends on it
  std::int64_t max_state_bytes = 0;    // 0: no budget
  StateCost state_cost;
};

struct ExecutionPlan {
  std::vector<PlannedRun> runs;  // parents before children
  std::vector<PlannedPass> passes;
  std::int64_t num_prompts = 0;
  std::int64_t tokens_asked = 0;  // sum of the prompts' lengths
  std::int64_t tokens_run = 0;
  std::int64_t states_captured = 0;
  std::int64_t states_resumed = 0;  // runs that continue from a state
  std::int64_t num_levels = 0;
  std::int64_t peak_state_bytes = 0;
  std::int64_t max_rows = 0;  // of the largest pass
  // Row counts of the passes, sorted, distinct: what the GEMMs will see.
  std::vector<std::int64_t> row_counts() const;
};

// The tree must be valid. With a budget below what packing by level needs, subtrees are finished one after
// another; throws not_eligible, with both figures, where even that does not fit.
ExecutionPlan plan_execution(const PrefixTree& tree, const PlanOptions& options);

}  // namespace branchmark
