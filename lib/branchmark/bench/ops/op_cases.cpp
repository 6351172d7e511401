#include "branchmark/bench/ops/op_cases.hpp"

#include <string_view>
#include <utility>

#include "branchmark/bench/bench_cases.hpp"
#include "branchmark/bench/bench_record.hpp"
#include "branchmark/bench/ops/op_record.hpp"

namespace branchmark {
namespace {

using ops::OpRun;
using ops::OpSpec;

void add_ceilings(std::vector<Case>& cases, const std::shared_ptr<OpRun>& run) {
  for (const std::string_view kind : {"product", "copy"})
    for (std::size_t side = 0; side < run->sides().size(); ++side)
      cases.push_back({.check = "ceiling",
                       .parameters = run->sides().on_side({{"kind", kind}}, side),
                       .skip_reason = "",
                       .run = [run, side, product = kind == "product"](CaseRecord& record) {
                         record_ceiling(record, *run->sides().device(side), product);
                       }});
}

void add_op(std::vector<Case>& cases, const std::shared_ptr<OpRun>& run, const OpSpec& spec) {
  const auto planned_s = [run, block = spec.block] { return run->planned_s(block); };
  std::vector<std::shared_ptr<const OpRun::Request>> requests;
  for (std::size_t side = 0; side < run->sides().size(); ++side) {
    const auto& request = requests.emplace_back(run->want(spec, side));
    cases.push_back({.check = "op",
                     .parameters = run->sides().on_side(spec.parameters, side),
                     .skip_reason = "",
                     .run = [run, request](CaseRecord& record) { ops::record_op(record, *run, *request); },
                     .planned_s = planned_s});
  }
  if (requests.size() == 1) return;
  Parameters both{{"of", "op"}};
  both.insert(both.end(), spec.parameters.begin(), spec.parameters.end());
  cases.push_back(
      {.check = "against",
       .parameters = std::move(both),
       .skip_reason = "",
       .run = [run, requests](
                  CaseRecord& record) { ops::record_op_pair(record, *run, *requests[0], *requests[1]); },
       .planned_s = planned_s});
}

}  // namespace

std::vector<Case> op_cases(const std::shared_ptr<Session>& session, BenchOptions options) {
  require_bench(*session);
  const auto run = std::make_shared<OpRun>(session, std::move(options));
  std::vector<Case> cases;
  add_ceilings(cases, run);
  for (const auto& spec : ops::op_specs(run->scenario(), run->scenario().model.seed))
    add_op(cases, run, spec);
  return cases;
}

}  // namespace branchmark
