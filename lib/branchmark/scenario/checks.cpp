#include "branchmark/scenario/checks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

namespace branchmark {
namespace {

constexpr std::array<CheckInfo, 17> kChecks = {{
    {Check::operators, "operators", kNeedsNothing,
     "every operator is within its bound of the float64 oracle"},
    {Check::gemm_rows, "gemm_rows", kNeedsNothing,
     "a row of a product keeps its bits for every number of rows"},
    {Check::continuation, "continuation", kNeedsPrompts | kNeedsSharing,
     "continuing from a captured state equals one pass"},
    {Check::shared_equals_fixed, "shared_equals_fixed", kNeedsPrompts | kNeedsSharing,
     "every branch of a prefix tree has the bits of forward_fixed"},
    {Check::packed_equals_per_branch, "packed_equals_per_branch", kNeedsPrompts | kNeedsSharing,
     "packed passes and one pass a branch give the same bits"},
    {Check::batch_equals_alone, "batch_equals_alone", kNeedsPrompts | kNeedsSharing,
     "prompts packed together keep the bits of their solo runs"},
    {Check::graph_equals_eager, "graph_equals_eager", kNeedsPrompts, "a replayed graph gives the eager bits"},
    {Check::repeated, "repeated", kNeedsPrompts | kNeedsSharing,
     "the same request again gives the same bits"},
    {Check::reordered, "reordered", kNeedsPrompts | kNeedsSharing,
     "the order of groups and branches changes no bit"},
    {Check::interleaved, "interleaved", kNeedsPrompts | kNeedsSharing,
     "forward before, between and after changes no bit"},
    {Check::grown, "grown", kNeedsPrompts | kNeedsSharing, "growing the scratch memory changes no bit"},
    {Check::recovery, "recovery", kNeedsPrompts | kNeedsSharing,
     "after refused requests the model gives the same bits"},
    {Check::isolation, "isolation", kNeedsPrompts | kNeedsSharing, "changing one branch changes no other"},
    {Check::refusals, "refusals", kNeedsSharing, "invalid requests are refused before any device work"},
    {Check::profiles, "profiles", kNeedsNothing, "only the proven execution profile may share"},
    {Check::reference, "reference", kNeedsReference, "the recorded reference is met within its bounds"},
    {Check::forward_distance, "forward_distance", kNeedsPrompts | kNeedsSharing,
     "the distance to forward is reported (a metric, never a failure)"},
}};

static_assert(std::ranges::adjacent_find(kChecks, std::ranges::greater_equal{}, &CheckInfo::check) ==
                      kChecks.end() &&
                  static_cast<std::size_t>(kChecks.back().check) + 1 == kChecks.size(),
              "the table is indexed by Check");

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
