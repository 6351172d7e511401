#include "branchmark/verify/difference.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace branchmark {
namespace {

std::optional<Difference> compare(const TracedSide& left, const TracedSide& right, const Trace& empty) {
  auto left_trace = empty;
  auto right_trace = empty;
  const auto left_runs = left.run(left_trace);
  const auto right_runs = right.run(right_trace);
  return first_difference(left_trace, left_runs, right_trace, right_runs);
}

// The first stream that differs bounds the search. Where an op differs in few values the residual stream may
// round that away, so the layers before the one that produced the stream are looked at too.
std::optional<Difference> locate(const TracedSide& left, const TracedSide& right) {
  auto stream = compare(left, right, Trace::of_streams());
  if (!stream) return std::nullopt;
  const auto producing_layer = stream->layer - 1;
  for (auto layer = std::min<std::int64_t>(0, producing_layer); layer <= producing_layer; ++layer)
    if (auto op = compare(left, right, Trace::of_layer(layer))) return op;
  return stream;
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
