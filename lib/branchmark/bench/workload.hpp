// What bench times: one way of answering some prompts, and what its answers must be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "branchmark/bench/work.hpp"
#include "branchmark/verify/session.hpp"

namespace branchmark {

// A way to answer; `packed` and `per_branch` are forward_shared with that packing.
enum class Way { forward, forward_fixed, packed, per_branch };
std::string_view name_of(Way way);

// Prompts that share `prefix_tokens` and then differ. A single pass of n tokens is one branch of n without a
// prefix.
struct PromptsShape {
  std::int64_t prefix_tokens = 0;
  std::int64_t branches = 1;
  std::int64_t branch_tokens = 1;

  std::int64_t prompt_tokens() const { return prefix_tokens + branch_tokens; }
  std::int64_t asked_tokens() const { return branches * prompt_tokens(); }
  auto operator<=>(const PromptsShape&) const = default;
};

struct WorkloadSpec {
  Way way = Way::forward;
  GemmKind gemm = GemmKind::default_choice;
  GraphMode graph = GraphMode::off;
  PromptsShape shape;

  auto operator<=>(const WorkloadSpec&) const = default;
};

// How a call's answers compare with forward_fixed's.
struct ParityResult {
  bool equal = false;  // bit for bit, every prompt
  std::int64_t num_different = 0;
  double relative_l2 = 0;  // over all prompts
};

// Used by one thread. Opens the device and computes forward_fixed when first called, not when made.
class Workload {
 public:
  Workload(std::shared_ptr<Session> session, WorkloadSpec spec);

  const WorkloadSpec& spec() const { return spec_; }
  const PromptsShape& shape() const { return spec_.shape; }
  const ModelConfig& config() const { return session_->config(); }
  // Null for a graph that the device does not have.
  Model* model() const;

  // One call, which computes the answers to every prompt (for forward and forward_fixed there is one).
  std::vector<HiddenRows> call(PassHook* hook = nullptr, PassObserver* observer = nullptr) const;
  // Drops the scratch, pooled states and graphs of the scenario's models; a later call makes its own.
  void release_memory() const;
  Work work() const;
  // Present for the ways that share.
  std::optional<ExecutionPlan> plan() const;

  // As Session::recorded_digest.
  std::string recorded_digest(const HiddenRows& answer) const { return session_->recorded_digest(answer); }

  // Of a call's answers beside forward_fixed with the fixed handle, computed once.
  ParityResult parity(const std::vector<HiddenRows>& answers) const;

 private:
  std::shared_ptr<Session> session_;
  WorkloadSpec spec_;
  PrefixTree tree_;
  std::vector<FullPrompt> prompts_;
};

// Of result rows: also -0 and 0 differ.
bool same_bits(const HiddenRows& a, const HiddenRows& b);

// The seed of the prompts' tokens: the scenario's for prompts, else its model's.
std::uint64_t prompt_seed(const Scenario& scenario);

}  // namespace branchmark
