// Explaining a bit difference: both sides run again, recording, and the first op that parts is named.
#pragma once

#include <functional>
#include <string>

#include "branchmark/verify/session.hpp"
#include "branchmark/verify/trace.hpp"

namespace branchmark {

// One way of computing a prompt: runs it with an observer, and says which runs of that observer are the
// prompt's.
struct TracedSide {
  std::string name;  // "forward_shared", "forward_fixed"
  std::function<RunChain(PassObserver&)> run;
};

// The finding "bits_differ" for a prompt; names its path, the first layer, op, row, column, both values, and
// the command that repeats the case.
Finding explain_difference(const std::string& prompt_path, const TracedSide& left, const TracedSide& right,
                           const std::string& command);

TracedSide traced_fixed(Model& model, const Prompt& prompt, GemmKind gemm);
TracedSide traced_shared(Model& model, const PrefixTree& tree, const SharedOptions& options,
                         std::int64_t prompt);
TracedSide traced_batch(Model& model, std::vector<Prompt> prompts, GemmKind gemm, std::int64_t prompt);

}  // namespace branchmark
