#include "branchmark/verify/checks/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace branchmark {

Parameters with(Parameters parameters, std::initializer_list<std::pair<std::string, nlohmann::json>> more) {
  parameters.insert(parameters.end(), more.begin(), more.end());
  return parameters;
}

void witness(CaseRecord& record, const std::string& name, std::int64_t planned, std::int64_t found) {
  record.witness[name] = {planned, found};
}

void settle(CaseRecord& record) {
  for (const auto& [name, counter] : record.witness)
    if (counter.found != counter.planned)
      record.findings.push_back(
          {.id = "witness_differs",
           .severity = Severity::error,
           .message = fmt::format("witness {}: the plan says {}, {} were seen: the path under test "
                                  "did not run as planned",
                                  name, counter.planned, counter.found),
           .suggestion = "the case proves nothing as it ran; report it as a fault of the tool"});
  const bool failed = std::any_of(record.findings.begin(), record.findings.end(),
                                  [](const Finding& finding) { return finding.severity == Severity::error; });
  record.outcome = failed ? Outcome::fail : Outcome::pass;
}

void compare_prompts(CaseRecord& record, const Session& session, const std::vector<HiddenRows>& left,
                     const std::vector<const HiddenRows*>& right,
                     const std::function<Finding(std::size_t)>& explain) {
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < left.size(); ++i) {
    record.digests.push_back(session.recorded_digest(left[i]));
    if (record.digests.back() != right[i]->digest()) different.push_back(i);
  }
  const auto compared = record.witness["prompts_compared"].found + static_cast<std::int64_t>(left.size());
  witness(record, "prompts_compared", compared, compared);
  if (different.empty()) return;
  auto finding = explain(different.front());
  if (different.size() > 1)
    finding.message += fmt::format(" ({} of {} prompts differ)", different.size(), left.size());
  record.findings.push_back(std::move(finding));
}

std::vector<const HiddenRows*> pointers(const std::vector<HiddenRows>& rows) {
  std::vector<const HiddenRows*> list;
  for (const auto& row : rows) list.push_back(&row);
  return list;
}

void control_flipped_bit(CaseRecord& record, const HiddenRows& rows) {
  auto flipped = rows;
  // The lowest bit of a bf16 is bit 16 of the float32 that holds it.
  const std::uint32_t bit = rows.activation == BMK_BF16 ? 0x10000u : 1u;
  flipped.values.back() = std::bit_cast<float>(std::bit_cast<std::uint32_t>(flipped.values.back()) ^ bit);
  auto& caught = record.witness["controls_caught"];
  ++caught.planned;
  if (flipped.digest() != rows.digest()) ++caught.found;
}

const Request& representative(Session& session) {
  const auto weight = [&](const Request& request) {
    PlanOptions options;
    const auto plan = plan_execution(request.tree, options);
    return std::pair{plan.states_captured > 0, plan.tokens_asked};
  };
  const auto& requests = session.requests();
  return *std::max_element(requests.begin(), requests.end(),
                           [&](const Request& a, const Request& b) { return weight(a) < weight(b); });
}

SharedWitness::SharedWitness(const Model& model, const ExecutionPlan& plan, std::int64_t calls)
    : model_(model),
      before_(model.statistics()),
      passes_(calls * static_cast<std::int64_t>(plan.passes.size())),
      tokens_run_(calls * plan.tokens_run),
      states_captured_(calls * plan.states_captured),
      states_resumed_(calls * plan.states_resumed) {}

void SharedWitness::add_to(CaseRecord& record) const {
  const auto now = model_.statistics();
  witness(record, "passes", passes_, now.passes - before_.passes);
  witness(record, "tokens_run", tokens_run_, now.tokens_run - before_.tokens_run);
  witness(record, "states_captured", states_captured_, now.states_captured - before_.states_captured);
  witness(record, "states_resumed", states_resumed_, now.states_resumed - before_.states_resumed);
}

}  // namespace branchmark
