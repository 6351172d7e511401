// Profiles other than merged weights with default numerics, alone and together: every entry point that shares
// refuses them before any module call or allocation, naming what it found, and `forward` admits them.

#include <fmt/format.h>

#include <cmath>

#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/synthetic_adapter.hpp"

namespace branchmark {
namespace {

constexpr std::int64_t kAdapterRank = 2;
constexpr std::int64_t kPromptTokens = 70;

struct GuardedCall {
  std::string entry_point;
  std::function<void(Model&, const Prompt&)> call;
};

std::vector<GuardedCall> guarded_calls() {
  return {
      {"forward_fixed", [](Model& m, const Prompt& p) { static_cast<void>(m.forward_fixed(p)); }},
      {"forward_shared",
       [](Model& m, const Prompt& p) {
         static_cast<void>(m.forward_shared(PrefixTree::from_prompts(std::span(&p, 1), nullptr)));
       }},
      {"forward_window",
       [](Model& m, const Prompt& p) {
         static_cast<void>(m.forward_window({.prompt = &p,
                                             .from = 0,
                                             .to = 64,
                                             .prefix = nullptr,
                                             .capture_at = 64,
                                             .gemm = GemmKind::fixed}));
       }},
  };
}

void run_profile(CaseRecord& record, Session& session, const Profile& profile) {
  ModelOptions options;
  options.reference_numerics = profile.reference_numerics;
  options.gdn_fp32 = profile.gdn_fp32;
  if (profile.unmerged_adapter) options.adapter = make_synthetic_adapter(session.config(), kAdapterRank, 1);
  const auto model = session.make_model(options);
  const auto prompt = session.random_prompt("profiles", kPromptTokens);
  const auto calls = guarded_calls();
  std::int64_t refused = 0;
  for (const auto& guarded : calls) {
    const auto before = model->context().counters();
    std::string fault = "was admitted";
    try {
      guarded.call(*model, prompt);
    } catch (const Error& error) {
      const auto after = model->context().counters();
      const std::string_view message = error.what();
      fault.clear();
      if (error.code() != ErrorCode::refused || message.find(profile.describe()) == std::string_view::npos)
        fault = fmt::format("ended with \"{}\"", message);
      else if (after.calls != before.calls || after.live_buffers != before.live_buffers)
        fault = fmt::format("made {} module calls before it was refused", after.calls - before.calls);
    }
    refused += fault.empty() ? 1 : 0;
    if (!fault.empty())
      record.findings.push_back(
          {.id = "not_refused",
           .severity = Severity::error,
           .message = fmt::format("{} under {}: {}", guarded.entry_point, profile.describe(), fault),
           .suggestion = "the guard must come first in that entry point"});
  }
  witness(record, "entry_points_refused", static_cast<std::int64_t>(calls.size()), refused);
  // The control: a call that is admitted does reach the module.
  const auto before = model->context().counters().calls;
  const auto rows = model->forward(prompt);
  witness(record, "controls_caught", 1, model->context().counters().calls > before ? 1 : 0);
  record.digests.push_back(rows.digest());
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
