// Every kind of invalid request is refused, by name, before any module call or allocation; and after all of
// them the model gives the same bits as before.

#include <fmt/format.h>

#include "branchmark/verify/checks/checks.hpp"

namespace branchmark {
namespace {

// One invalid request: what its refusal must mention, and the call.
struct Invalid {
  std::string name;
  std::string mentions;
  std::function<void(Session&, Model&)> call;
};

Prompt prompt_of(Session& session, std::int64_t tokens) {
  return session.random_prompt("refusals", tokens);
}

PrefixTree tree_of(Session& session, std::vector<std::int64_t> branches) {
  PromptGroup group;
  for (const auto tokens : branches) group.branches.push_back(prompt_of(session, tokens).tokens);
  return PrefixTree::from_groups(prompt_of(session, 70).tokens, {group});
}

void shared(Model& model, const PrefixTree& tree) {
  static_cast<void>(model.forward_shared(tree));
}

void window(Model& model, const Prompt& prompt, std::int64_t from, std::int64_t to, std::int64_t capture_at,
            std::shared_ptr<const PrefixState> prefix = nullptr) {
  static_cast<void>(model.forward_window({.prompt = &prompt,
                                          .from = from,
                                          .to = to,
                                          .prefix = std::move(prefix),
                                          .capture_at = capture_at,
                                          .gemm = GemmKind::fixed}));
}

std::vector<Invalid> invalid_trees() {
  return {
      {"no_prompts", "no prompts",
       [](Session& s, Model& m) { shared(m, PrefixTree::from_groups(prompt_of(s, 3).tokens, {})); }},
      {"empty_branch", "request/group 0/branch 1",
       [](Session& s, Model& m) {
         shared(m, tree_of(s, {3, 0}));
       }},
      {"group_without_branches", "request/group 0", [](Session& s, Model& m) { shared(m, tree_of(s, {})); }},
      {"token_outside_vocabulary", "request/group 0/branch 0",
       [](Session& s, Model& m) {
         auto tree = tree_of(s, {3});
         tree.root.children[0].children[0].tokens[1] = static_cast<std::int32_t>(s.config().vocabulary);
         shared(m, tree);
       }},
      {"negative_token", "request",
       [](Session& s, Model& m) {
         auto tree = tree_of(s, {3});
         tree.root.tokens[0] = -1;
         shared(m, tree);
       }},
      {"prompt_too_long", "request/group 0/branch 0",
       [](Session& s, Model& m) { shared(m, tree_of(s, {s.config().max_positions})); }},
      {"position_rows_of_another_length", "request/group 0/branch 0",
       [](Session& s, Model& m) {
         auto tree = tree_of(s, {3});
         tree.root.children[0].children[0].positions.rows = {{{1, 2}, {1, 2}, {1, 2}}};
         shared(m, tree);
       }},
      {"default_gemm_shared", "row-independent",
       [](Session& s, Model& m) {
         static_cast<void>(m.forward_shared(tree_of(s, {3}), {.gemm = GemmKind::default_choice}));
       }},
  };
}

std::vector<Invalid> invalid_prompts() {
  return {
      {"empty_prompt", "empty prompt", [](Session&, Model& m) { static_cast<void>(m.forward({})); }},
      {"empty_batch", "no prompts",
       [](Session&, Model& m) { static_cast<void>(m.forward_batch({}, GemmKind::fixed)); }},
      {"empty_prompt_in_batch", "prompt 1",
       [](Session& s, Model& m) {
         const std::vector<Prompt> prompts = {prompt_of(s, 3), {}};
         static_cast<void>(m.forward_batch(prompts, GemmKind::fixed));
       }},
      {"default_gemm_fixed", "row-independent",
       [](Session& s, Model& m) {
         static_cast<void>(m.forward_fixed(prompt_of(s, 3), GemmKind::default_choice));
       }},
  };
}

std::vector<Invalid> invalid_windows() {
  return {
      {"window_empty", "below to", [](Session& s, Model& m) { window(m, prompt_of(s, 100), 64, 64, 0); }},
      {"window_without_prefix", "no prefix state",
       [](Session& s, Model& m) { window(m, prompt_of(s, 100), 64, 100, 0); }},
      {"window_past_end", "past the prompt",
       [](Session& s, Model& m) { window(m, prompt_of(s, 100), 0, 101, 0); }},
      {"capture_off_grid", "off the grid",
       [](Session& s, Model& m) { window(m, prompt_of(s, 100), 0, 100, 65); }},
      {"capture_past_end", "past the window",
       [](Session& s, Model& m) { window(m, prompt_of(s, 200), 0, 100, 128); }},
  };
}

std::vector<Invalid> all_invalid() {
  auto list = invalid_trees();
  for (auto&& more : {invalid_prompts(), invalid_windows()})
    list.insert(list.end(), more.begin(), more.end());
  return list;
}

// Whether the call was refused as it should be; otherwise what is wrong.
std::string fault_of(Session& session, Model& model, const Invalid& invalid) {
  const auto before = model.context().counters();
  try {
    invalid.call(session, model);
  } catch (const Error& error) {
    const auto after = model.context().counters();
    if (error.code() != ErrorCode::refused)
      return fmt::format("ended with {} instead of a refusal: {}", name_of(error.code()), error.what());
    if (std::string_view(error.what()).find(invalid.mentions) == std::string_view::npos)
      return fmt::format("the refusal does not mention \"{}\": {}", invalid.mentions, error.what());
    if (after.calls != before.calls || after.live_buffers != before.live_buffers)
      return fmt::format("the refusal made {} module calls and left {} buffers", after.calls - before.calls,
                         after.live_buffers - before.live_buffers);
    return {};
  }
  return "was not refused";
}

void add_fault(CaseRecord& record, Session& session, const std::string& name, const std::string& fault) {
  if (fault.empty()) return;
  record.findings.push_back({.id = "not_refused",
                             .severity = Severity::error,
                             .message = fmt::format("{}: {}", name, fault),
                             .suggestion = "repeat this case alone: " + session.command_for(record.key())});
}

void run_refusal(CaseRecord& record, Session& session, const Invalid& invalid) {
  auto& model = session.model();
  // A valid call first: the counters do move when something is admitted.
  const auto before = model.context().counters().calls;
  static_cast<void>(model.forward_fixed(prompt_of(session, 3)));
  witness(record, "controls_caught", 1, model.context().counters().calls > before ? 1 : 0);
  const auto fault = fault_of(session, model, invalid);
  witness(record, "requests_refused", 1, fault.empty() ? 1 : 0);
  add_fault(record, session, invalid.name, fault);
  settle(record);
}

// States that may not be continued: of another model, void, of another length.
void refuse_states(CaseRecord& record, Session& session) {
  auto& model = session.model();
  const auto prompt = prompt_of(session, 200);
  const auto other = session.make_model();
  const auto capture = [&](Model& owner) {
    return owner
        .forward_window({.prompt = &prompt,
                         .from = 0,
                         .to = 64,
                         .prefix = nullptr,
                         .capture_at = 64,
                         .gemm = GemmKind::fixed})
        .captured;
  };
  const auto foreign = capture(*other);
  const auto own = capture(model);
  const std::vector<Invalid> states = {
      {"foreign_state", "another model", [&](Session&, Model& m) { window(m, prompt, 64, 200, 0, foreign); }},
      {"state_of_another_length", "stands for 64",
       [&](Session&, Model& m) { window(m, prompt, 128, 200, 0, own); }},
  };
  std::int64_t refused = 0;
  for (const auto& invalid : states) {
    const auto fault = fault_of(session, model, invalid);
    refused += fault.empty() ? 1 : 0;
    add_fault(record, session, invalid.name, fault);
  }
  model.void_states();
  const auto fault =
      fault_of(session, model,
               {"void_state", "void", [&](Session&, Model& m) { window(m, prompt, 64, 200, 0, own); }});
  add_fault(record, session, "void_state", fault);
  witness(record, "requests_refused", 3, refused + (fault.empty() ? 1 : 0));
  settle(record);
}

void run_recovery(CaseRecord& record, Session& session, GemmKind gemm) {
  auto& model = session.model();
  const auto& request = representative(session);
  const SharedOptions options{.gemm = gemm};
  const auto first = model.forward_shared(request.tree, options);
  std::int64_t refused = 0;
  const auto invalid = all_invalid();
  for (const auto& item : invalid) {
    const auto fault = fault_of(session, model, item);
    refused += fault.empty() ? 1 : 0;
    add_fault(record, session, item.name, fault);
  }
  witness(record, "requests_refused", static_cast<std::int64_t>(invalid.size()), refused);
  model.poison_scratch();
  const SharedWitness shared_witness(model, model.plan(request.tree, options));
  const auto second = model.forward_shared(request.tree, options);
  shared_witness.add_to(record);
  std::vector<const HiddenRows*> expected;
  for (const auto& rows : first) expected.push_back(&rows);
  compare_prompts(record, session, second, expected, [&](std::size_t i) {
    return Finding{.id = "bits_differ",
                   .severity = Severity::error,
                   .message = request.prompts[i].path + ": the result changed after refused requests",
                   .suggestion = "repeat this case alone: " + session.command_for(record.key())};
  });
  control_flipped_bit(record, first.front());
  settle(record);
}

}  // namespace

std::vector<Case> refusals_cases(const SessionPointer& session) {
  std::vector<Case> cases;
  for (const auto& invalid : all_invalid())
    cases.push_back(
        {.check = "refusals",
         .parameters = {{"request", invalid.name}},
         .skip_reason = "",
         .run = [session, invalid](CaseRecord& record) { run_refusal(record, *session, invalid); }});
  cases.push_back({.check = "refusals",
                   .parameters = {{"request", "states"}},
                   .skip_reason = "",
                   .run = [session](CaseRecord& record) { refuse_states(record, *session); }});
  return cases;
}

std::vector<Case> recovery_cases(const SessionPointer& session) {
  std::vector<Case> cases;
  if (session->requests().empty()) return cases;
  for (const auto gemm : session->scenario().execution.gemm)
    cases.push_back({.check = "recovery",
                     .parameters = with(representative(*session).parameters, {{"gemm", name_of(gemm)}}),
                     .skip_reason = "",
                     .run = [session, gemm](CaseRecord& record) { run_recovery(record, *session, gemm); }});
  return cases;
}

}  // namespace branchmark
