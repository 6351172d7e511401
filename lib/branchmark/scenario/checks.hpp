// The checks of `qualify`: one list, from which scenario words, help texts and defaults are made.
#pragma once

#include <span>
#include <string_view>

namespace branchmark {

// In schema order, which is the order of a run.
enum class Check {
  operators,
  gemm_rows,
  continuation,
  shared_equals_fixed,
  packed_equals_per_branch,
  batch_equals_alone,
  graph_equals_eager,
  repeated,
  reordered,
  interleaved,
  grown,
  recovery,
  isolation,
  refusals,
  profiles,
  reference,
  forward_distance,
};

// What a check needs, as bits.
enum CheckNeeds : unsigned {
  kNeedsNothing = 0,
  kNeedsPrompts = 1,
  kNeedsReference = 2,
  kNeedsSharing = 4,  // a profile for which sharing is proven
};

struct CheckInfo {
  Check check;
  std::string_view name;
  unsigned needs;
  std::string_view holds_when;  // one line for people

  constexpr bool has_need(CheckNeeds need) const { return (needs & need) != 0; }
};

std::span<const CheckInfo> check_table();
const CheckInfo& info_of(Check check);
std::string_view name_of(Check check);

}  // namespace branchmark
