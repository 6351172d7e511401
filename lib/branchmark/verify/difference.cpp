#include "branchmark/verify/difference.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace branchmark {
namespace {

// The layer whose ops produced the first stream that differs.
std::int64_t producing_layer(const Difference& stream) {
  return stream.layer - 1;
}

std::optional<Difference> locate(const TracedSide& left, const TracedSide& right) {
  auto left_streams = Trace::of_streams();
  auto right_streams = Trace::of_streams();
  const auto left_runs = left.run(left_streams);
  const auto right_runs = right.run(right_streams);
  const auto stream = first_difference(left_streams, left_runs, right_streams, right_runs);
  if (!stream) return std::nullopt;
  auto left_ops = Trace::of_layer(producing_layer(*stream));
  auto right_ops = Trace::of_layer(producing_layer(*stream));
  const auto left_op_runs = left.run(left_ops);
  const auto right_op_runs = right.run(right_ops);
  const auto op = first_difference(left_ops, left_op_runs, right_ops, right_op_runs);
  return op ? op : stream;
}

}  // namespace

Finding explain_difference(const std::string& prompt_path, const TracedSide& left, const TracedSide& right,
                           const std::string& command) {
  const auto difference = locate(left, right);
  const auto where =
      difference ? describe(*difference)
                 : std::string("a second run of both sides gave equal bits: the results are not repeatable");
  return {
      .id = "bits_differ",
      .severity = Severity::error,
      .message = fmt::format("{}: {} and {} differ; first at {}", prompt_path, left.name, right.name, where),
      .suggestion = "repeat this case alone: " + command};
}

TracedSide traced_fixed(Model& model, const Prompt& prompt, GemmKind gemm) {
  return {"forward_fixed", [&model, prompt, gemm](PassObserver& observer) {
            static_cast<void>(model.forward_fixed(prompt, gemm, {.observer = &observer}));
            return RunChain{0};
          }};
}

TracedSide traced_shared(Model& model, const PrefixTree& tree, const SharedOptions& options,
                         std::int64_t prompt) {
  return {"forward_shared", [&model, tree, options, prompt](PassObserver& observer) {
            auto observed = options;
            observed.observer = &observer;
            static_cast<void>(model.forward_shared(tree, observed));
            const auto plan = model.plan(tree, options);
            RunChain chain;
            const auto leaf = std::find_if(plan.runs.begin(), plan.runs.end(),
                                           [&](const PlannedRun& run) { return run.prompt == prompt; });
            for (auto run = leaf - plan.runs.begin(); run >= 0;
                 run = plan.runs[static_cast<std::size_t>(run)].parent_run)
              chain.push_back(run);
            std::reverse(chain.begin(), chain.end());
            return chain;
          }};
}

TracedSide traced_batch(Model& model, std::vector<Prompt> prompts, GemmKind gemm, std::int64_t prompt) {
  return {"forward_batch", [&model, prompts = std::move(prompts), gemm, prompt](PassObserver& observer) {
            static_cast<void>(model.forward_batch(prompts, gemm, {.observer = &observer}));
            return RunChain{prompt};
          }};
}

}  // namespace branchmark
