#include "branchmark/compare/compare.hpp"

#include <algorithm>

#include "branchmark/base/error.hpp"
#include "branchmark/compare/case_comparison.hpp"
#include "branchmark/compare/differences.hpp"
#include "branchmark/compare/gates.hpp"
#include "branchmark/compare/settle.hpp"
#include "branchmark/compare/time_comparison.hpp"

namespace branchmark {
namespace {

CaseComparisonOptions case_options(const Side& a, const Side& b, const CompareOptions& options) {
  const auto& device = b.reports().front().report.device;
  CaseComparisonOptions made;
  // What ends sampling in bench: the device's own time, on a CPU that of the call.
  made.first_metric = device && device->is_cpu ? "wall_ns" : "device_ns";
  made.effect = [&options](const std::string& key, const std::string& metric) {
    return options.noise_floor ? std::max(options.min_effect, options.noise_floor->effect_of(key, metric))
                               : options.min_effect;
  };
  made.kept = kept_of(a, b);
  return made;
}

void list_membership(Comparison& comparison) {
  for (const auto& row : comparison.cases) {
    if (row.verdict == CaseVerdict::added) comparison.added.push_back(row.key);
    if (row.verdict == CaseVerdict::missing) comparison.removed.push_back(row.key);
    if (row.renamed_from) comparison.renamed.push_back({*row.renamed_from, row.key});
  }
}

}  // namespace

Comparison compare(Side a, Side b, const CompareOptions& options) {
  Comparison comparison{.a = a.runs(),
                        .b = b.runs(),
                        .min_effect = options.min_effect,
                        .noise_floor = {},
                        .fail_on = options.fail_on,
                        .cross = options.cross,
                        .filter = options.filter,
                        .differences = find_differences(a, b),
                        .cases = {},
                        .added = {},
                        .removed = {},
                        .renamed = {},
                        .exit = {}};
  if (options.noise_floor) comparison.noise_floor = options.noise_floor->effect;
  if (!options.cross) require_comparable(comparison.differences);
  if (options.filter) {
    a.keep_only(*options.filter);
    b.keep_only(*options.filter);
  }
  if (a.cases().empty() && b.cases().empty())
    throw Error(ErrorCode::usage, options.filter ? "--filter matches no case of either side"
                                                 : "found no case on either side, expected at least one");

  const auto how = case_options(a, b, options);
  for (const auto& matched : match_cases(a, b)) comparison.cases.push_back(compare_case(matched, how));
  std::vector<TimeComparison*> times;
  for (auto& row : comparison.cases)
    for (auto& time : row.times) times.push_back(&time);
  decide_verdicts(times);
  for (auto& row : comparison.cases) {
    conclude(row);
    row.gates = gates_of(row, options.fail_on);
    if (row.outputs_changed() && !both_kept(how.kept))
      row.outputs->suggestion = keep_suggestion(b.reports().front().report, row);
    for (auto& time : row.times)
      if (time.verdict == CaseVerdict::inconclusive)
        time.suggestion = settle_suggestion(b.reports().front().report, row, time);
  }
  list_membership(comparison);
  comparison.exit = decide_exit(comparison);
  return comparison;
}

}  // namespace branchmark
