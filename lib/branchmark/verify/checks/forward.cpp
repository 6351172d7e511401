// `forward` beside the fixed pass: how far it is from it (a metric, never gated), and that a replayed graph
// gives the bits of the eager call.

#include <fmt/format.h>

#include "branchmark/base/distance.hpp"
#include "branchmark/verify/checks/checks.hpp"

namespace branchmark {
namespace {

// Above this, a warning: the largest distance seen elsewhere is 1.84e-2, on a 4B model.
constexpr double kUsualDistance = 3e-2;

void run_distance(CaseRecord& record, Session& session, const Request& request) {
  auto& model = session.model();
  std::vector<float> forward, fixed;
  const auto before = model.statistics().passes;
  for (const auto& prompt : request.prompts) {
    const auto rows = model.forward(prompt.prompt);
    forward.insert(forward.end(), rows.values.begin(), rows.values.end());
  }
  witness(record, "passes", static_cast<std::int64_t>(request.prompts.size()),
          model.statistics().passes - before);
  for (const auto& prompt : request.prompts) {
    const auto& rows = session.fixed(prompt.prompt, GemmKind::fixed);
    fixed.insert(fixed.end(), rows.values.begin(), rows.values.end());
  }
  const auto distance = relative_l2(forward, fixed);
  record.add_metric("relative_l2", "1", Better::lower, distance);
  record.add_metric("max_ulp_bf16", "ulp", Better::lower, static_cast<double>(max_ulp_bf16(forward, fixed)));
  if (!(distance <= kUsualDistance))
    record.findings.push_back(
        {.id = "forward_distance",
         .severity = Severity::warning,
         .message = fmt::format("forward is {:.3e} (relative L2) from forward_fixed; more than the "
                                "usual {:.0e} of a change of rounding",
                                distance, kUsualDistance),
         .suggestion = "run parity against a recorded reference to see which of the two is off"});
  settle(record);
}

void run_graph(CaseRecord& record, Session& session, std::int64_t tokens) {
  Model* graphs = session.graph_model();
  if (graphs == nullptr) {
    record.outcome = Outcome::skipped;
    record.skip_reason = "graph_unsupported";
    return;
  }
  const auto prompt = session.random_prompt("graph", tokens);
  const auto eager = session.model().forward(prompt);
  const auto before = graphs->statistics().graphs;
  const std::vector<HiddenRows> rows = {graphs->forward(prompt), graphs->forward(prompt),
                                        graphs->forward(prompt)};
  const auto after = graphs->statistics().graphs;
  // A length that an earlier case captured is replayed from the first call on.
  witness(record, "captures_and_replays", 3,
          after.captures - before.captures + after.replays - before.replays);
  compare_prompts(record, session, rows, {&eager, &eager, &eager}, [&](std::size_t i) {
    return Finding{
        .id = "bits_differ",
        .severity = Severity::error,
        .message = fmt::format("call {} of {} tokens with graphs on differs from the eager call", i, tokens),
        .suggestion = "repeat this case alone: " + session.command_for(record.key())};
  });
  control_flipped_bit(record, eager);
  settle(record);
}

}  // namespace

std::vector<Case> forward_distance_cases(const SessionPointer& session) {
  std::vector<Case> cases;
  for (std::size_t r = 0; r < session->requests().size(); ++r)
    cases.push_back({.check = "forward_distance",
                     .parameters = session->requests()[r].parameters,
                     .skip_reason = "",
                     .run = [session, r](CaseRecord& record) {
                       run_distance(record, *session, session->requests()[r]);
                     }});
  return cases;
}

std::vector<Case> graph_equals_eager_cases(const SessionPointer& session) {
  std::vector<Case> cases;
  for (const std::int64_t tokens : {1, 63, 64, 65, 300})
    cases.push_back({.check = "graph_equals_eager",
                     .parameters = {{"tokens", tokens}},
                     .skip_reason = "",
                     .run = [session, tokens](CaseRecord& record) { run_graph(record, *session, tokens); }});
  return cases;
}

}  // namespace branchmark
