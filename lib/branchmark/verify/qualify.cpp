#include <algorithm>

#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/gemm_rows.hpp"
#include "branchmark/verify/operators.hpp"
#include "branchmark/verify/parity.hpp"

namespace branchmark {
namespace {

// On a CPU a reference call of 4,096 rows takes minutes for nothing: its rows are proven at fewer.
constexpr std::int64_t kCpuGemmRows = 257;

// Every row count that the scenario's passes will have.
std::vector<std::int64_t> planned_rows(const Session& session) {
  std::vector<std::int64_t> rows;
  for (const auto& request : session.requests())
    for (const auto packing : session.scenario().execution.packing) {
      PlanOptions options;
      options.packing = packing;
      const auto counts = plan_execution(request.tree, options).row_counts();
      rows.insert(rows.end(), counts.begin(), counts.end());
      for (const auto& prompt : request.prompts)
        rows.push_back(static_cast<std::int64_t>(prompt.prompt.tokens.size()));
    }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<Case> all_gemm_rows(const SessionPointer& session, const ContextSource& context) {
  auto configs = session->level() == Level::full ? presets() : std::vector<ModelConfig>{};
  configs.insert(configs.begin(), session->config());
  auto options = session->level() == Level::quick ? quick_gemm_rows() : GemmRowsOptions{};
  options.extra_rows = planned_rows(*session);
  options.cache_file = session->gemm_cache_file();
  if (session->on_cpu()) options = capped(std::move(options), kCpuGemmRows);
  return gemm_rows_cases(context, projection_shapes(configs), options);
}

std::vector<Case> cases_of(Check check, const SessionPointer& session) {
  const ContextSource context = [session] { return session->context(); };
  switch (check) {
    case Check::operators:
      return operator_cases(context,
                            {.full = session->level() == Level::full && !session->on_cpu(), .seed = 1});
    case Check::gemm_rows:
      return all_gemm_rows(session, context);
    case Check::continuation:
      return continuation_cases(session);
    case Check::shared_equals_fixed:
      return shared_equals_fixed_cases(session);
    case Check::packed_equals_per_branch:
      return packed_equals_per_branch_cases(session);
    case Check::batch_equals_alone:
      return batch_equals_alone_cases(session);
    case Check::graph_equals_eager:
      return graph_equals_eager_cases(session);
    case Check::repeated:
      return repeated_cases(session);
    case Check::reordered:
      return reordered_cases(session);
    case Check::interleaved:
      return interleaved_cases(session);
    case Check::grown:
      return grown_cases(session);
    case Check::recovery:
      return recovery_cases(session);
    case Check::isolation:
      return isolation_cases(session);
    case Check::refusals:
      return refusals_cases(session);
    case Check::profiles:
      return profiles_cases(session);
    case Check::reference:
      return reference_cases(session);
    case Check::forward_distance:
      return forward_distance_cases(session);
  }
  return {};
}

}  // namespace

std::vector<Case> qualify_cases(const SessionPointer& session) {
  std::vector<Case> cases;
  for (const auto check : session->scenario().selected_checks()) {
    if (info_of(check).has_need(kNeedsSharing))
      session->require_shareable_profile("the check " + std::string(name_of(check)));
    auto more = cases_of(check, session);
    std::move(more.begin(), more.end(), std::back_inserter(cases));
  }
  return cases;
}

}  // namespace branchmark
