// Checks that two ways of executing a request give the same bits: packed and per branch; a batch and each
// prompt alone.

#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/difference.hpp"

namespace branchmark {
namespace {

void run_packed(CaseRecord& record, Session& session, const Request& request, GemmKind gemm) {
  auto& model = session.model();
  const SharedOptions packed{.gemm = gemm, .packing = Packing::packed};
  const SharedOptions per_branch{.gemm = gemm, .packing = Packing::per_branch};
  const SharedWitness packed_witness(model, model.plan(request.tree, packed));
  const auto left = model.forward_shared(request.tree, packed);
  packed_witness.add_to(record);
  const auto plan = model.plan(request.tree, per_branch);
  const auto passes_before = model.statistics().passes;
  const auto right = model.forward_shared(request.tree, per_branch);
  witness(record, "passes_per_branch", static_cast<std::int64_t>(plan.passes.size()),
          model.statistics().passes - passes_before);
  compare_prompts(record, session, left, pointers(right), [&](std::size_t i) {
    const auto prompt = static_cast<std::int64_t>(i);
    auto one = traced_shared(model, request.tree, packed, prompt);
    auto other = traced_shared(model, request.tree, per_branch, prompt);
    one.name = "packed";
    other.name = "per_branch";
    return explain_difference(request.prompts[i].path, one, other, session.command_for(record.key()));
  });
  control_flipped_bit(record, left.front());
  settle(record);
}

void run_batch(CaseRecord& record, Session& session, const Request& request, GemmKind gemm) {
  auto& model = session.model();
  std::vector<Prompt> prompts;
  std::vector<const HiddenRows*> alone;
  for (const auto& prompt : request.prompts) {
    prompts.push_back(prompt.prompt);
    alone.push_back(&session.fixed(prompt.prompt, gemm));
  }
  const auto before = model.statistics();
  const auto batch = model.forward_batch(prompts, gemm);
  std::int64_t tokens = 0;
  for (const auto& prompt : prompts) tokens += static_cast<std::int64_t>(prompt.tokens.size());
  witness(record, "passes", 1, model.statistics().passes - before.passes);
  witness(record, "tokens_run", tokens, model.statistics().tokens_run - before.tokens_run);
  compare_prompts(record, session, batch, alone, [&](std::size_t i) {
    return explain_difference(request.prompts[i].path,
                              traced_batch(model, prompts, gemm, static_cast<std::int64_t>(i)),
                              traced_fixed(model, prompts[i], gemm), session.command_for(record.key()));
  });
  control_flipped_bit(record, batch.front());
  settle(record);
}

std::vector<Case> over_requests(const SessionPointer& session, const std::string& check,
                                void (*run)(CaseRecord&, Session&, const Request&, GemmKind)) {
  std::vector<Case> cases;
  for (std::size_t r = 0; r < session->requests().size(); ++r)
    for (const auto gemm : session->scenario().execution.gemm)
      cases.push_back({.check = check,
                       .parameters = with(session->requests()[r].parameters, {{"gemm", name_of(gemm)}}),
                       .skip_reason = "",
                       .run = [session, r, gemm, run](CaseRecord& record) {
                         run(record, *session, session->requests()[r], gemm);
                       }});
  return cases;
}

}  // namespace

std::vector<Case> packed_equals_per_branch_cases(const SessionPointer& session) {
  return over_requests(session, "packed_equals_per_branch", run_packed);
}

std::vector<Case> batch_equals_alone_cases(const SessionPointer& session) {
  return over_requests(session, "batch_equals_alone", run_batch);
}

}  // namespace branchmark
