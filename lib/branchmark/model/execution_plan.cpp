#include "branchmark/model/execution_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "branchmark/base/error.hpp"
#include "branchmark/kernels.h"

namespace branchmark {
namespace {

constexpr std::int64_t kGrid = BMK_CHUNK_TOKENS;

class RunCollector {
 public:
  explicit RunCollector(ExecutionPlan& plan) : plan_(plan) {}

  void visit(const PrefixNode& node, const std::string& path, Prompt above, std::int64_t parent_run,
             std::int64_t captured) {
    extend(above, node);
    const auto length = static_cast<std::int64_t>(above.tokens.size());
    if (node.ends_prompt) {
      const auto prompt = plan_.num_prompts++;
      plan_.tokens_asked += length;
      add({.path = path,
           .tokens = slice(above, captured, length),
           .first = captured,
           .last = length,
           .parent_run = parent_run,
           .prompt = prompt});
      return;
    }
    if (const auto rounded = length / kGrid * kGrid; rounded > captured) {
      parent_run = add({.path = path,
                        .tokens = slice(above, captured, rounded),
                        .first = captured,
                        .last = rounded,
                        .parent_run = parent_run,
                        .captures = true});
      captured = rounded;
    }
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const auto& child = node.children[i];
      visit(child, child_path(path, child, i), above, parent_run, captured);
    }
  }

 private:
  std::int64_t add(PlannedRun run) {
    if (run.parent_run >= 0) run.level = plan_.runs[static_cast<std::size_t>(run.parent_run)].level + 1;
    plan_.tokens_run += run.rows();
    plan_.states_captured += run.captures ? 1 : 0;
    plan_.states_resumed += run.parent_run >= 0 ? 1 : 0;
    plan_.num_levels = std::max(plan_.num_levels, run.level + 1);
    plan_.runs.push_back(std::move(run));
    return static_cast<std::int64_t>(plan_.runs.size()) - 1;
  }

  ExecutionPlan& plan_;
};

const PlannedRun& run_of(const ExecutionPlan& plan, std::int64_t index) {
  return plan.runs[static_cast<std::size_t>(index)];
}

// Cuts a list of runs that may share a pass into passes of at most max_pass_rows (a single longer run stands
// alone).
void emit(const ExecutionPlan& plan, const PlanOptions& options, const std::vector<std::int64_t>& runs,
          std::vector<PlannedPass>& passes) {
  std::int64_t rows = 0;
  for (const auto index : runs) {
    const auto own = run_of(plan, index).rows();
    const bool fits = !passes.empty() && rows > 0 && options.packing == Packing::packed &&
                      rows + own <= options.max_pass_rows;
    if (!fits) {
      passes.emplace_back();
      rows = 0;
    }
    passes.back().runs.push_back(index);
    rows += own;
  }
}

std::vector<PlannedPass> by_level(const ExecutionPlan& plan, const PlanOptions& options) {
  std::vector<std::vector<std::int64_t>> levels(static_cast<std::size_t>(plan.num_levels));
  for (std::size_t i = 0; i < plan.runs.size(); ++i)
    levels[static_cast<std::size_t>(plan.runs[i].level)].push_back(static_cast<std::int64_t>(i));
  std::vector<PlannedPass> passes;
  for (const auto& level : levels) emit(plan, options, level, passes);
  return passes;
}

// Each captured state is followed by all that hangs below it, its leaves first in one packed pass.
std::vector<PlannedPass> by_subtree(const ExecutionPlan& plan, const PlanOptions& options) {
  std::vector<std::vector<std::int64_t>> children(plan.runs.size() +
                                                  1);  // the last entry: runs without a parent
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const auto parent = plan.runs[i].parent_run;
    children[parent < 0 ? plan.runs.size() : static_cast<std::size_t>(parent)].push_back(
        static_cast<std::int64_t>(i));
  }
  std::vector<PlannedPass> passes;
  const auto finish = [&](const auto& self, std::size_t parent) -> void {
    std::vector<std::int64_t> leaves;
    for (const auto run : children[parent])
      if (!run_of(plan, run).captures) leaves.push_back(run);
    emit(plan, options, leaves, passes);
    for (const auto run : children[parent])
      if (run_of(plan, run).captures) {
        emit(plan, options, {run}, passes);
        self(self, static_cast<std::size_t>(run));
      }
  };
  finish(finish, plan.runs.size());
  return passes;
}

// Fills in what each pass releases; returns the largest sum of states alive at once.
std::int64_t release_states(const ExecutionPlan& plan, const StateCost& cost,
                            std::vector<PlannedPass>& passes) {
  std::vector<std::size_t> last_use(plan.runs.size());
  for (std::size_t p = 0; p < passes.size(); ++p)
    for (const auto run : passes[p].runs) {
      last_use[static_cast<std::size_t>(run)] = p;
      for (auto above = run_of(plan, run).parent_run; above >= 0; above = run_of(plan, above).parent_run)
        last_use[static_cast<std::size_t>(above)] = p;
    }
  for (std::size_t run = 0; run < plan.runs.size(); ++run)
    if (plan.runs[run].captures) passes[last_use[run]].released.push_back(static_cast<std::int64_t>(run));
  const auto bytes = [&](std::int64_t run) { return cost.bytes(run_of(plan, run).rows()); };
  std::int64_t alive = 0;
  std::int64_t peak = 0;
  for (const auto& pass : passes) {
    for (const auto run : pass.runs)
      if (run_of(plan, run).captures) alive += bytes(run);
    peak = std::max(peak, alive);
    for (const auto run : pass.released) alive -= bytes(run);
  }
  return peak;
}

}  // namespace

std::string_view name_of(Packing packing) {
  return packing == Packing::packed ? "packed" : "per_branch";
}

std::vector<std::int64_t> ExecutionPlan::row_counts() const {
  std::vector<std::int64_t> counts;
  for (const auto& pass : passes)
    counts.push_back(
        std::accumulate(pass.runs.begin(), pass.runs.end(), std::int64_t{0},
                        [&](std::int64_t sum, std::int64_t run) { return sum + run_of(*this, run).rows(); }));
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

ExecutionPlan plan_execution(const PrefixTree& tree, const PlanOptions& options) {
  ExecutionPlan plan;
  RunCollector(plan).visit(tree.root, root_path(tree), {}, -1, 0);
  plan.passes = by_level(plan, options);
  plan.peak_state_bytes = release_states(plan, options.state_cost, plan.passes);
  if (options.max_state_bytes > 0 && plan.peak_state_bytes > options.max_state_bytes) {
    plan.passes = by_subtree(plan, options);
    plan.peak_state_bytes = release_states(plan, options.state_cost, plan.passes);
    if (plan.peak_state_bytes > options.max_state_bytes)
      throw Error(
          ErrorCode::not_eligible,
          fmt::format("prefix states need {} bytes at once, even one subtree after another; the budget is {}",
                      plan.peak_state_bytes, options.max_state_bytes));
  }
  const auto counts = plan.row_counts();
  plan.max_rows = counts.empty() ? 0 : counts.back();
  return plan;
}

}  // namespace branchmark
