// The Qwen3.5 text backbone over a kernel module, and its entry points.
//
//   forward          one prompt, the module's default GEMM choice; recorded and replayed where graphs are on
//   forward_batch    independent prompts packed as rows
//   forward_fixed    one prompt in one pass with row-independent GEMMs: this defines the right answer
//   forward_shared   every prompt of a prefix tree, each prefix run once: equals forward_fixed of each, bit
//   for bit forward_window   tokens [from, to) after a captured prefix state, capturing at a multiple of 64
//
// A call first asks the profile guard, then validates its request, then knows what memory it needs; only then
// is the device touched. After a refused or failed call the stream has been synchronised and the model gives
// the same bits as before. A Model is used by one thread at a time; models on contexts of their own are
// independent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "branchmark/model/adapter.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/model/execution_plan.hpp"
#include "branchmark/model/gemm_set.hpp"
#include "branchmark/model/graph_cache.hpp"
#include "branchmark/model/layers.hpp"
#include "branchmark/model/observer.hpp"
#include "branchmark/model/pass_hook.hpp"
#include "branchmark/model/prefix_state.hpp"
#include "branchmark/model/prefix_tree.hpp"
#include "branchmark/model/profile.hpp"
#include "branchmark/model/weights.hpp"

namespace branchmark {

// Rows after the final norm, float32 values; under bf16 activations each is a bf16 value.
struct HiddenRows {
  std::int64_t columns = 0;
  bmk_dtype activation = BMK_BF16;
  std::vector<float> values;  // [rows, columns]
  std::int64_t num_rows() const {
    return columns == 0 ? 0 : static_cast<std::int64_t>(values.size()) / columns;
  }
  // Little-endian: bf16, or float32 under float32 activations.
  std::vector<std::byte> bytes() const;
  // sha256 of bytes().
  std::string digest() const;
};

struct ModelOptions {
  bool reference_numerics = false;
  bool gdn_fp32 = false;
  bool graphs = false;
  std::optional<Adapter> adapter;  // unmerged
  GemmSetOptions gemm;
};

struct CallOptions {
  bool all_rows = false;             // results hold every row of a prompt, not the last alone
  PassObserver* observer = nullptr;  // an observed call is never replayed from a graph
  PassHook* hook = nullptr;
};

struct SharedOptions {
  GemmKind gemm = GemmKind::fixed;
  Packing packing = Packing::packed;
  std::int64_t max_state_bytes = 0;  // 0: no budget
  PassObserver* observer = nullptr;  // runs are numbered as in the plan
  PassHook* hook = nullptr;
};

struct WindowRequest {
  const Prompt* prompt = nullptr;  // the whole prompt; tokens [from, to) run
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::shared_ptr<const PrefixState> prefix;  // null where from is 0
  std::int64_t capture_at = 0;                // 0: nothing; else a multiple of 64 in (from, to]
  GemmKind gemm = GemmKind::fixed;
};

struct WindowResult {
  HiddenRows rows;  // the last, or all of the window's
  std::shared_ptr<const PrefixState> captured;
};

// What a model has done so far: the witness counters of checks are differences of these.
struct ModelStatistics {
  std::int64_t passes = 0;
  std::int64_t tokens_run = 0;
  std::int64_t states_captured = 0;
  std::int64_t states_resumed = 0;
  std::int64_t scratch_growths = 0;
  std::int64_t state_allocations = 0;
  GraphStatistics graphs;
};

class Model {
 public:
  // Touches the device only to upload an adapter.
  Model(std::shared_ptr<Context> context, ModelConfig config, std::shared_ptr<const Weights> weights,
        ModelOptions options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelConfig& config() const { return config_; }
  const Profile& profile() const { return profile_; }
  const Weights& weights() const { return *weights_; }
  const std::shared_ptr<const Weights>& shared_weights() const { return weights_; }
  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  GemmSet& gemms() { return gemms_; }
  PromptLimits limits() const { return {config_.vocabulary, config_.max_positions}; }
  StateCost state_cost() const { return states_->layout().cost(); }
  ModelStatistics statistics() const;

  HiddenRows forward(const Prompt& prompt, const CallOptions& options = {});
  std::vector<HiddenRows> forward_batch(std::span<const Prompt> prompts, GemmKind gemm,
                                        const CallOptions& options = {});
  HiddenRows forward_fixed(const Prompt& prompt, GemmKind gemm = GemmKind::fixed,
                           const CallOptions& options = {});
  // Results in the order of the tree's prompts.
  std::vector<HiddenRows> forward_shared(const PrefixTree& tree, const SharedOptions& options = {});
  WindowResult forward_window(const WindowRequest& request, const CallOptions& options = {});

  // The plan that forward_shared would carry out; validates the tree, touches no device.
  ExecutionPlan plan(const PrefixTree& tree, const SharedOptions& options) const;
  // Voids the contents of every state handed out: continuing from one is refused from now on.
  void void_states() { states_->void_contents(); }
  // Fills scratch and unused state memory with NaN: no result may depend on what they held.
  void poison_scratch();
  // Gives scratch, pooled states and recorded graphs back to the device: later calls allocate what they need
  // anew. States still held stay as they are.
  void release_memory();

 private:
  // Runs one packed pass and returns its result rows.
  HiddenRows run_pass(std::vector<SequenceInput> sequences, GemmKind kind, const CallOptions& options,
                      bool graphs);
  void reserve(const PassInputs& inputs);
  HiddenRows download_results(const PassInputs& inputs);
  [[noreturn]] void report_non_finite(Gemm& gemm, const PassInputs& inputs);
  void require_memory(std::int64_t bytes, const std::string& what);
  std::vector<HiddenRows> run_plan(const ExecutionPlan& plan, const SharedOptions& options);

  std::shared_ptr<Context> context_;
  ModelConfig config_;
  Profile profile_;
  std::shared_ptr<const Weights> weights_;
  bool graphs_enabled_;
  std::uint64_t id_;
  std::optional<DeviceAdapter> adapter_;
  GemmSet gemms_;
  RotaryTable rotary_;
  Scratch scratch_;
  DeviceBuffer input_block_;
  std::shared_ptr<StatePool> states_;
  GraphCache graph_cache_;
  ModelStatistics statistics_;
};

}  // namespace branchmark
