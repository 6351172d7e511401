// Profiles other than merged weights with default numerics, alone and together: every entry point that shares
// refuses them before any module call or allocation, naming what it found, and `forward` admits them.

#include <fmt/format.h>

#include <span>

#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/entry_points.hpp"
#include "branchmark/verify/synthetic_adapter.hpp"

namespace branchmark {
namespace {

constexpr std::int64_t kAdapterRank = 2;
constexpr std::int64_t kPromptTokens = 70;

Request one_prompt(const Prompt& prompt) {
  auto tree = PrefixTree::from_prompts(std::span(&prompt, 1), nullptr);
  auto prompts = full_prompts(tree);
  return {.parameters = {}, .tree = std::move(tree), .prompts = std::move(prompts)};
}

void run_profile(CaseRecord& record, Session& session, const Profile& profile) {
  ModelOptions options;
  options.reference_numerics = profile.reference_numerics;
  options.gdn_fp32 = profile.gdn_fp32;
  if (profile.unmerged_adapter) options.adapter = make_synthetic_adapter(session.config(), kAdapterRank, 1);
  const auto model = session.make_model(options);
  const auto prompt = session.random_prompt("profiles", kPromptTokens);
  const auto request = one_prompt(prompt);
  std::int64_t guarded = 0;
  std::int64_t refused = 0;
  for (const auto& entry_point : entry_points()) {
    if (entry_point.admits(profile)) continue;
    ++guarded;
    const auto fault = fault_of_refusal(attempt(entry_point, *model, request), entry_point, profile);
    if (fault.empty())
      ++refused;
    else
      record.findings.push_back(
          {.id = "not_refused",
           .severity = Severity::error,
           .message = fmt::format("{} under {}: {}", entry_point.name, profile.describe(), fault),
           .suggestion = "the guard must come first in that entry point"});
  }
  witness(record, "entry_points_refused", guarded, refused);
  // The control: a call that is admitted does reach the module.
  const auto before = model->context().counters().calls;
  const auto rows = model->forward(prompt);
  witness(record, "controls_caught", 1, model->context().counters().calls > before ? 1 : 0);
  record.digests.push_back(session.recorded_digest(rows));
  settle(record);
}

}  // namespace

std::vector<Case> profiles_cases(const SessionPointer& session) {
  std::vector<Case> cases;
  for (int bits = 1; bits < 8; ++bits) {
    const Profile profile{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    cases.push_back(
        {.check = "profiles",
         .parameters = {{"adapter", profile.unmerged_adapter ? "unmerged" : "none"},
                        {"numerics", profile.reference_numerics ? "reference" : "default"},
                        {"gdn", profile.gdn_fp32 ? "fp32" : "default"}},
         .skip_reason = "",
         .run = [session, profile](CaseRecord& record) { run_profile(record, *session, profile); }});
  }
  return cases;
}

}  // namespace branchmark
