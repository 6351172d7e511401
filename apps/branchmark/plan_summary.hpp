// What a prefix tree will cost a model: tokens, passes, memory, and time where it was measured. No device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "branchmark/model/config.hpp"
#include "branchmark/model/execution_plan.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark::app {

// A prefix that several prompts have in common.
struct SharedPrefix {
  std::string path;
  std::int64_t tokens = 0;           // from the prompt's start
  std::int64_t captured_tokens = 0;  // those that run once: the rest, up to 63, runs again with each child
  std::int64_t prompts = 0;          // below it
};

// Times of single passes by forward_fixed, from a bench report: what a pass of so many rows takes. Between
// two measured sizes it is interpolated, below the smallest it is the smallest's, above the largest it grows
// in proportion. Rows that continue from a long prefix take somewhat longer than this says: they attend to
// more.
class PassRates {
 public:
  // Throws usage, with the reason, where the report holds no such times for this model.
  static PassRates from_report(const Report& report, const ModelConfig& config, const std::string& origin);

  double pass_ns(std::int64_t rows) const;
  const std::string& basis() const { return basis_; }

 private:
  struct Point {
    double rows;
    double ns;
  };
  std::vector<Point> points_;  // by rows
  std::string basis_;
};

struct RequestPlan {
  Parameters parameters;  // of the scenario's request; empty for a file of prompts
  std::int64_t num_prompts = 0;
  std::int64_t tokens_asked = 0;
  std::int64_t tokens_run = 0;
  std::int64_t num_passes = 0;
  std::int64_t num_runs = 0;
  std::int64_t num_levels = 0;
  std::int64_t states_captured = 0;
  std::int64_t states_resumed = 0;
  std::int64_t max_pass_rows = 0;
  std::int64_t state_bytes = 0;    // of all states alive at once
  std::int64_t scratch_bytes = 0;  // activations of the largest pass, without the workspaces of ops
  std::vector<SharedPrefix> shared_prefixes;
  std::optional<double> shared_ns;  // the passes, one after another
  std::optional<double> alone_ns;   // every prompt in a pass of its own

  std::int64_t tokens_saved() const { return tokens_asked - tokens_run; }
};

// The tree must be valid.
RequestPlan summarize_plan(const PrefixTree& tree, Parameters parameters, const ModelConfig& config,
                           bmk_dtype activation, Packing packing, const std::optional<PassRates>& rates);

// Of the model's matrices, as synthetic weights store them: bf16, small vectors in float32.
std::int64_t weight_bytes(const ModelConfig& config);

}  // namespace branchmark::app
