#include "branchmark/bench/ops/op_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "branchmark/model/profile.hpp"

namespace branchmark::ops {
namespace {

bmk_numerics numerics_of(const ScenarioModel& model) {
  return Profile{.unmerged_adapter = false,
                 .reference_numerics = model.numerics == Numerics::reference,
                 .gdn_fp32 = model.gdn == GdnNumerics::fp32}
      .numerics();
}

}  // namespace

OpRun::OpRun(std::shared_ptr<Session> session, BenchOptions options)
    : sides_(std::move(session), options.against), options_(std::move(options)) {}

std::shared_ptr<const OpRun::Request> OpRun::want(const OpSpec& spec, std::size_t side) {
  auto request = std::make_shared<const Request>(
      Request{spec, side, case_key("op", sides_.on_side(spec.parameters, side))});
  requests_.push_back(request);
  return request;
}

const MeasuredOp& OpRun::measured(const Request& request) {
  auto block = blocks_.find(request.spec.block);
  if (block == blocks_.end()) block = blocks_.emplace(request.spec.block, measure(request.spec.block)).first;
  return *block->second.at(request.key);
}

double OpRun::planned_s(const std::string& block) const {
  if (blocks_.contains(block)) return 0;
  return static_cast<double>(requests_of(block).size()) * expected_s(*scenario().bench);
}

std::vector<std::shared_ptr<const OpRun::Request>> OpRun::requests_of(const std::string& block) const {
  std::map<std::string, std::shared_ptr<const Request>> by_key;
  for (const auto& weak : requests_)
    if (const auto request = weak.lock(); request && request->spec.block == block)
      by_key.emplace(request->key, request);
  std::vector<std::shared_ptr<const Request>> requests;
  for (const auto& [key, request] : by_key) requests.push_back(request);
  return requests;
}

OpRun::Block OpRun::measure(const std::string& name) {
  std::vector<std::unique_ptr<OperandPool>> pools;
  for (std::size_t side = 0; side < sides_.size(); ++side)
    pools.push_back(std::make_unique<OperandPool>(
        sides_.device(side)->shared_context(),
        OperandOptions{sides_.config(), numerics_of(scenario().model), scenario().model.seed}));
  BenchmarkRegistry registry;
  Block block;
  std::map<std::string, std::vector<MeasuredOp*>> sides_of;  // by the key without the side
  for (const auto& request : requests_of(name)) {
    auto measured = std::make_unique<MeasuredOp>(sides_.session(request->side), sides_.device(request->side),
                                                 request->spec, request->key);
    measured->prepare(registry, *pools[request->side]);
    sides_of[case_key("op", request->spec.parameters)].push_back(measured.get());
    block.emplace(request->key, std::move(measured));
  }
  std::vector<SeriesGroup> in_order;
  for (const auto& [key, sides] : sides_of) {
    auto& group = in_order.emplace_back();
    std::int64_t launches = 0;
    for (const auto* side : sides) launches = std::max(launches, side->num_launches());
    for (auto* side : sides) {
      side->set_num_launches(registry, launches);
      group.members.push_back(&side->series());
    }
  }
  sample(name, in_order);
  for (const auto& [key, measured] : block) measured->finish();
  return block;
}

void OpRun::sample(const std::string& name, const std::vector<SeriesGroup>& groups) const {
  auto options = rounds_options(*scenario().bench);
  options.progress = [&](std::int64_t round, std::size_t total, std::size_t open) {
    if (options_.progress && (open == 0 || round % 10 == 0))
      options_.progress(
          fmt::format("op {}: round {}, {} of {} cases want more samples", name, round, open, total));
  };
  run_rounds(groups, options);
}

}  // namespace branchmark::ops
