// Checks that a request's bits do not depend on what happened around it: asked again, asked in another order,
// with other calls before and between, after scratch memory has grown.

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/difference.hpp"

namespace branchmark {
namespace {

// A difference that tracing cannot reproduce by itself: it came from what happened in between.
std::function<Finding(std::size_t)> changed_after(const Session& session, const CaseRecord& record,
                                                  const Request& request, const std::string& what) {
  return [&session, &record, &request, what](std::size_t i) {
    return Finding{.id = "bits_differ",
                   .severity = Severity::error,
                   .message = fmt::format("{}: the result changed {}", request.prompts[i].path, what),
                   .suggestion = "repeat this case alone: " + session.command_for(record.key())};
  };
}

void reverse_children(PrefixNode& node) {
  std::reverse(node.children.begin(), node.children.end());
  for (auto& child : node.children) reverse_children(child);
}

void run_repeated(CaseRecord& record, Session& session, const Request& request,
                  const SharedOptions& options) {
  std::int64_t repeats = session.level() == Level::full ? 300 : session.level() == Level::quick ? 1 : 3;
  auto& model = session.model();
  const auto first = model.forward_shared(request.tree, options);
  const SharedWitness shared(model, model.plan(request.tree, options), repeats);
  for (std::int64_t i = 0; i < repeats && record.findings.empty(); ++i) {
    record.digests.clear();
    compare_prompts(
        record, session, model.forward_shared(request.tree, options), pointers(first),
        changed_after(session, record, request, fmt::format("in repeat {} of {}", i + 1, repeats)));
  }
  shared.add_to(record);
  control_flipped_bit(record, first.front());
  settle(record);
}

void run_reordered(CaseRecord& record, Session& session, const Request& request,
                   const SharedOptions& options) {
  auto& model = session.model();
  const auto straight = model.forward_shared(request.tree, options);
  auto reversed = request.tree;
  reverse_children(reversed.root);
  const auto prompts = full_prompts(reversed);
  const SharedWitness shared(model, model.plan(reversed, options));
  auto rows = model.forward_shared(reversed, options);
  shared.add_to(record);
  // Reversing every list of children reverses the depth-first order of the prompts.
  std::reverse(rows.begin(), rows.end());
  std::int64_t in_place = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    in_place += prompts[prompts.size() - 1 - i].prompt.tokens == request.prompts[i].prompt.tokens ? 1 : 0;
  witness(record, "prompts_matched", static_cast<std::int64_t>(request.prompts.size()), in_place);
  compare_prompts(record, session, rows, pointers(straight),
                  changed_after(session, record, request, "when groups and branches were reversed"));
  control_flipped_bit(record, straight.front());
  settle(record);
}

void run_interleaved(CaseRecord& record, Session& session, const Request& request,
                     const SharedOptions& options) {
  auto& model = session.model();
  const auto& single = request.prompts.front().prompt;
  const auto before = model.forward(single);
  const auto first = model.forward_shared(request.tree, options);
  const auto between = model.forward(single);
  const SharedWitness shared(model, model.plan(request.tree, options));
  const auto second = model.forward_shared(request.tree, options);
  shared.add_to(record);
  const auto after = model.forward(single);
  const auto same = [&](const HiddenRows& rows) { return rows.digest() == before.digest() ? 1 : 0; };
  witness(record, "forward_unchanged", 2, same(between) + same(after));
  compare_prompts(record, session, second, pointers(first),
                  changed_after(session, record, request, "after a forward in between"));
  control_flipped_bit(record, first.front());
  settle(record);
}

void run_grown(CaseRecord& record, Session& session, const Request& request, const SharedOptions& options) {
  const auto model = session.make_model();
  const auto first = model->forward_shared(request.tree, options);
  const auto before = model->statistics();
  const auto rows = std::max<std::int64_t>(model->plan(request.tree, options).max_rows, 1);
  const auto longer = session.random_prompt(
      "longer",
      std::min((rows / Scratch::kRowStep + 1) * Scratch::kRowStep + 1, session.config().max_positions));
  static_cast<void>(model->forward_fixed(longer, options.gemm));
  witness(record, "scratch_growths", 1, model->statistics().scratch_growths - before.scratch_growths);
  model->poison_scratch();
  const SharedWitness shared(*model, model->plan(request.tree, options));
  const auto second = model->forward_shared(request.tree, options);
  shared.add_to(record);
  compare_prompts(
      record, session, second, pointers(first),
      changed_after(session, record, request, "after scratch memory grew and was filled with NaN"));
  control_flipped_bit(record, first.front());
  settle(record);
}

// The branch that is changed is the first; every other result must stay, and its own must not.
void run_isolation(CaseRecord& record, Session& session, const Request& request,
                   const SharedOptions& options) {
  auto& model = session.model();
  const auto first = model.forward_shared(request.tree, options);
  auto tree = request.tree;
  auto* node = &tree.root;
  while (!node->ends_prompt) node = &node->children.front();
  for (auto& token : node->tokens)
    token = static_cast<std::int32_t>((token + 1) % session.config().vocabulary);
  const SharedWitness shared(model, model.plan(tree, options));
  auto second = model.forward_shared(tree, options);
  shared.add_to(record);
  witness(record, "controls_caught", 1, second.front().digest() != first.front().digest() ? 1 : 0);
  second.front() = first.front();
  compare_prompts(record, session, second, pointers(first),
                  changed_after(session, record, request, "when only another branch's tokens changed"));
  witness(record, "siblings_compared", static_cast<std::int64_t>(first.size()) - 1,
          static_cast<std::int64_t>(second.size()) - 1);
  settle(record);
}

using RunCheck = void (*)(CaseRecord&, Session&, const Request&, const SharedOptions&);

// One case for each GEMM handle and packing, on the representative request.
std::vector<Case> on_representative(const SessionPointer& session, const std::string& check, RunCheck run) {
  std::vector<Case> cases;
  if (session->requests().empty()) return cases;
  const auto& execution = session->scenario().execution;
  const auto& request = representative(*session);
  for (const auto gemm : execution.gemm)
    for (const auto packing : execution.packing)
      cases.push_back(
          {.check = check,
           .parameters = with(request.parameters, {{"gemm", name_of(gemm)}, {"packing", name_of(packing)}}),
           .skip_reason = "",
           .run = [session, run, gemm, packing](CaseRecord& record) {
             run(record, *session, representative(*session), {.gemm = gemm, .packing = packing});
           }});
  return cases;
}

}  // namespace

std::vector<Case> repeated_cases(const SessionPointer& session) {
  return on_representative(session, "repeated", run_repeated);
}
std::vector<Case> reordered_cases(const SessionPointer& session) {
  return on_representative(session, "reordered", run_reordered);
}
std::vector<Case> interleaved_cases(const SessionPointer& session) {
  return on_representative(session, "interleaved", run_interleaved);
}
std::vector<Case> grown_cases(const SessionPointer& session) {
  return on_representative(session, "grown", run_grown);
}
std::vector<Case> isolation_cases(const SessionPointer& session) {
  return on_representative(session, "isolation", run_isolation);
}

}  // namespace branchmark
