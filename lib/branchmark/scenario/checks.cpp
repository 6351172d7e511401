#include "branchmark/scenario/checks.hpp"

#include <array>
#include <cstddef>

namespace branchmark {
namespace {

constexpr std::array<CheckInfo, 17> kChecks = {{
    {Check::operators, "operators", false, false, "every operator is within its bound of the float64 oracle"},
    {Check::gemm_rows, "gemm_rows", false, false,
     "a row of a product keeps its bits for every number of rows"},
    {Check::continuation, "continuation", true, false, "continuing from a captured state equals one pass"},
    {Check::shared_equals_fixed, "shared_equals_fixed", true, false,
     "every branch of a prefix tree has the bits of forward_fixed"},
    {Check::packed_equals_per_branch, "packed_equals_per_branch", true, false,
     "packed passes and one pass a branch give the same bits"},
    {Check::batch_equals_alone, "batch_equals_alone", true, false,
     "prompts packed together keep the bits of their solo runs"},
    {Check::graph_equals_eager, "graph_equals_eager", true, false, "a replayed graph gives the eager bits"},
    {Check::repeated, "repeated", true, false, "the same request again gives the same bits"},
    {Check::reordered, "reordered", true, false, "the order of groups and branches changes no bit"},
    {Check::interleaved, "interleaved", true, false, "forward before, between and after changes no bit"},
    {Check::grown, "grown", true, false, "growing the scratch memory changes no bit"},
    {Check::recovery, "recovery", true, false, "after refused requests the model gives the same bits"},
    {Check::isolation, "isolation", true, false, "changing one branch changes no other"},
    {Check::refusals, "refusals", false, false, "invalid requests are refused before any device work"},
    {Check::profiles, "profiles", false, false, "only the proven execution profile may share"},
    {Check::reference, "reference", false, true, "the recorded reference is met within its bounds"},
    {Check::forward_distance, "forward_distance", true, false,
     "the distance to forward is reported (a metric, never a failure)"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kChecks.size(); ++i)
    if (static_cast<std::size_t>(kChecks[i].check) != i) return false;
  return true;
}
static_assert(in_order(), "the table is indexed by Check");

}  // namespace

std::span<const CheckInfo> check_table() {
  return kChecks;
}

const CheckInfo& info_of(Check check) {
  return kChecks[static_cast<std::size_t>(check)];
}

std::string_view name_of(Check check) {
  return info_of(check).name;
}

}  // namespace branchmark
