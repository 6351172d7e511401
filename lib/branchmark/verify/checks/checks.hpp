// The checks of `qualify` over a model, one file each: every function gives the cases of one check. A case
// derives from the plan what its witness counters must show; `settle` turns what was found into the outcome.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "branchmark/verify/session.hpp"

namespace branchmark {

using SessionPointer = std::shared_ptr<Session>;

std::vector<Case> continuation_cases(const SessionPointer& session);
std::vector<Case> shared_equals_fixed_cases(const SessionPointer& session);
std::vector<Case> packed_equals_per_branch_cases(const SessionPointer& session);
std::vector<Case> batch_equals_alone_cases(const SessionPointer& session);
std::vector<Case> graph_equals_eager_cases(const SessionPointer& session);
std::vector<Case> repeated_cases(const SessionPointer& session);
std::vector<Case> reordered_cases(const SessionPointer& session);
std::vector<Case> interleaved_cases(const SessionPointer& session);
std::vector<Case> grown_cases(const SessionPointer& session);
std::vector<Case> recovery_cases(const SessionPointer& session);
std::vector<Case> isolation_cases(const SessionPointer& session);
std::vector<Case> refusals_cases(const SessionPointer& session);
std::vector<Case> profiles_cases(const SessionPointer& session);
std::vector<Case> forward_distance_cases(const SessionPointer& session);

// Parameters of a request, followed by more.
Parameters with(Parameters parameters, std::initializer_list<std::pair<std::string, nlohmann::json>> more);

// Adds a witness counter.
void witness(CaseRecord& record, const std::string& name, std::int64_t planned, std::int64_t found);

// pass unless a finding is an error or a witness found less than planned (which becomes a finding).
void settle(CaseRecord& record);

// Compares result rows prompt by prompt, bit for bit. Counts `prompts_compared`; `explain(i)` makes the
// finding of a prompt that differs (called for the first one only; the others are counted in its message).
// Records the left side's digests.
void compare_prompts(CaseRecord& record, const Session& session, const std::vector<HiddenRows>& left,
                     const std::vector<const HiddenRows*>& right,
                     const std::function<Finding(std::size_t)>& explain);
// The right side, from rows that outlive the call.
std::vector<const HiddenRows*> pointers(const std::vector<HiddenRows>& rows);

// Flips one bit of a digest's input and requires another digest: `controls_caught`.
void control_flipped_bit(CaseRecord& record, const HiddenRows& rows);

// The request with the most tokens that captures a state, else the one with most tokens. There is one.
const Request& representative(Session& session);

// Witness counters of forward_shared calls: what the plan says, and what the model's statistics grew by.
class SharedWitness {
 public:
  SharedWitness(const Model& model, const ExecutionPlan& plan, std::int64_t calls = 1);
  void add_to(CaseRecord& record) const;

 private:
  const Model& model_;
  ModelStatistics before_;
  std::int64_t passes_, tokens_run_, states_captured_, states_resumed_;
};

}  // namespace branchmark
