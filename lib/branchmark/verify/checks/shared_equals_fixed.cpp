// Every prompt of a request by forward_shared equals forward_fixed of the full prompt, bit for bit: over
// request prefixes, groupings, graphs, GEMM handles and packing.
//
// Controls, by public calls: a branch continued from the state of a prefix that differs in one token must
// differ; a prompt changed in one token must differ; a flipped bit must change the digest. With graphs on,
// `forward` of the prompts runs before, between and after, and must have captured and replayed.

#include <fmt/format.h>

#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/difference.hpp"

namespace branchmark {
namespace {

Prompt with_changed_token(const Prompt& prompt, std::int64_t index, std::int64_t vocabulary) {
  auto changed = prompt;
  auto& token = changed.tokens[static_cast<std::size_t>(index)];
  token = static_cast<std::int32_t>((token + 1) % vocabulary);
  return changed;
}

void count_control(CaseRecord& record, bool caught) {
  auto& counter = record.witness["controls_caught"];
  ++counter.planned;
  counter.found += caught ? 1 : 0;
}

// The shortest prompt of the request, and how much of it a state stands for.
struct Continued {
  std::size_t prompt = 0;
  std::int64_t captured = 0;
};

Continued shortest_continued(const ExecutionPlan& plan) {
  Continued found;
  std::int64_t shortest = -1;
  for (const auto& run : plan.runs) {
    if (run.prompt < 0 || (run.first == 0 && found.captured > 0)) continue;
    const bool better = shortest < 0 || (run.first > 0 && found.captured == 0) || run.last < shortest;
    if (!better) continue;
    found = {static_cast<std::size_t>(run.prompt), run.first};
    shortest = run.last;
  }
  return found;
}

void run_controls(CaseRecord& record, Session& session, const Request& request, const ExecutionPlan& plan,
                  GemmKind gemm, const std::vector<HiddenRows>& rows) {
  auto& model = session.model();
  const auto [index, captured] = shortest_continued(plan);
  const auto& prompt = request.prompts[index].prompt;
  const auto length = static_cast<std::int64_t>(prompt.tokens.size());
  const auto vocabulary = session.config().vocabulary;
  control_flipped_bit(record, rows[index]);
  const auto changed = with_changed_token(prompt, length - 1, vocabulary);
  count_control(record, session.fixed(changed, gemm).digest() != rows[index].digest());
  if (captured == 0) return;
  const auto foreign = with_changed_token(prompt, captured - 1, vocabulary);
  const auto prefix = model.forward_window({.prompt = &foreign,
                                            .from = 0,
                                            .to = captured,
                                            .prefix = nullptr,
                                            .capture_at = captured,
                                            .gemm = gemm});
  const auto continued = model.forward_window({.prompt = &prompt,
                                               .from = captured,
                                               .to = length,
                                               .prefix = prefix.captured,
                                               .capture_at = 0,
                                               .gemm = gemm});
  count_control(record, continued.rows.digest() != rows[index].digest());
}

// forward of the request's prompts on the graph model; the first call of a length captures, the next replays.
void run_forwards(Model& model, const Request& request) {
  for (const auto& prompt : request.prompts) static_cast<void>(model.forward(prompt.prompt));
}

void run_case(CaseRecord& record, Session& session, const Request& request, GraphMode graph,
              const SharedOptions& options) {
  Model* model = graph == GraphMode::on ? session.graph_model() : &session.model();
  if (model == nullptr) {
    record.outcome = Outcome::skipped;
    record.skip_reason = "graph_unsupported";
    return;
  }
  std::vector<const HiddenRows*> expected;
  for (const auto& prompt : request.prompts) expected.push_back(&session.fixed(prompt.prompt, options.gemm));
  const auto plan = model->plan(request.tree, options);
  const auto graphs_before = model->statistics().graphs;
  if (graph == GraphMode::on) run_forwards(*model, request);
  const SharedWitness shared(*model, plan);
  const auto rows = model->forward_shared(request.tree, options);
  shared.add_to(record);
  if (graph == GraphMode::on) {
    run_forwards(*model, request);
    const auto again = model->forward_shared(request.tree, options);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (again[i].digest() != rows[i].digest())
        record.findings.push_back(
            {.id = "bits_differ",
             .severity = Severity::error,
             .message = request.prompts[i].path + ": forward_shared changed after graph replays",
             .suggestion = session.command_for(record.key())});
    run_forwards(*model, request);
    const auto graphs = model->statistics().graphs;
    const auto replays = graphs.replays - graphs_before.replays;
    // Every length that the cache holds is replayed at least once; captures may come from an earlier case.
    witness(record, "graphs_replayed", 1, std::min<std::int64_t>(1, replays));
    witness(record, "graphs_captured", 1, std::min<std::int64_t>(1, graphs.captures));
  }
  compare_prompts(record, session, rows, expected, [&](std::size_t i) {
    return explain_difference(request.prompts[i].path,
                              traced_shared(*model, request.tree, options, static_cast<std::int64_t>(i)),
                              traced_fixed(session.model(), request.prompts[i].prompt, options.gemm),
                              session.command_for(record.key()));
  });
  run_controls(record, session, request, plan, options.gemm, rows);
  settle(record);
}

}  // namespace

std::vector<Case> shared_equals_fixed_cases(const SessionPointer& session) {
  std::vector<Case> cases;
  const auto& execution = session->scenario().execution;
  for (std::size_t r = 0; r < session->requests().size(); ++r)
    for (const auto graph : execution.graph)
      for (const auto gemm : execution.gemm)
        for (const auto packing : execution.packing)
          cases.push_back(
              {.check = "shared_equals_fixed",
               .parameters =
                   with(session->requests()[r].parameters,
                        {{"graph", name_of(graph)}, {"gemm", name_of(gemm)}, {"packing", name_of(packing)}}),
               .skip_reason = "",
               .run = [session, r, graph, gemm, packing](CaseRecord& record) {
                 run_case(record, *session, session->requests()[r], graph,
                          {.gemm = gemm, .packing = packing});
               }});
  return cases;
}

}  // namespace branchmark
