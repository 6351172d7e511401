#include "branchmark/bench/bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace branchmark {
namespace {

// A case is expected to need this share of its budget: most stop at the least number of samples.
constexpr double kExpectedShare = 0.1;

// A single branch is one pass in either packing, so both are the same measurement.
WorkloadSpec measured_as(WorkloadSpec spec) {
  if (spec.way == Way::per_branch && spec.shape.branches == 1) spec.way = Way::packed;
  return spec;
}

std::int64_t tokens_of(const Measured& measured) {
  return measured.workload().shape().asked_tokens();
}

}  // namespace

RoundsOptions rounds_options(const ScenarioBench& bench) {
  RoundsOptions options;
  options.stopping.target_interval = bench.target_interval;
  options.stopping.min_samples = bench.min_samples;
  options.stopping.budget_ns = bench.case_budget_s * 1e9;
  options.warm_up.budget_ns = bench.case_budget_s * 1e9 / 4;
  options.warm_up.max_drift = std::max(options.warm_up.max_drift, bench.target_interval);
  options.order_seed = bench.order_seed;
  return options;
}

double expected_s(const ScenarioBench& bench) {
  return kExpectedShare * bench.case_budget_s;
}

BenchRun::BenchRun(std::shared_ptr<Session> session, BenchOptions options)
    : sides_(std::move(session), options.against), options_(std::move(options)) {}

std::shared_ptr<const BenchRun::Request> BenchRun::want(const std::string& block, const WorkloadSpec& spec,
                                                        std::size_t side) {
  auto request = std::make_shared<const Request>(Request{block, spec, side});
  requests_.push_back(request);
  return request;
}

double BenchRun::planned_s(const std::string& block) const {
  if (blocks_.contains(block)) return 0;
  std::set<std::pair<WorkloadSpec, std::size_t>> wanted;
  for (const auto& weak : requests_)
    if (const auto request = weak.lock(); request && request->block == block)
      wanted.emplace(measured_as(request->spec), request->side);
  return static_cast<double>(wanted.size()) * expected_s(*scenario().bench);
}

bool BenchRun::supports(const Request& request) {
  return request.spec.graph == GraphMode::off || sides_.session(request.side)->graph_model() != nullptr;
}

Measured& BenchRun::measured(const Request& request) {
  auto block = blocks_.find(request.block);
  if (block == blocks_.end()) block = blocks_.emplace(request.block, measure(request.block)).first;
  return *block->second.at({measured_as(request.spec), request.side});
}

const Measured* BenchRun::find(const Request& beside, const WorkloadSpec& spec) {
  for (const auto& weak : requests_)
    if (const auto request = weak.lock();
        request && request->spec == spec && request->side == beside.side && supports(*request))
      return &measured(*request);
  return nullptr;
}

BenchRun::Block BenchRun::make_block(const std::string& name) {
  Block block;
  for (const auto& weak : requests_) {
    const auto request = weak.lock();
    if (!request || request->block != name || !supports(*request)) continue;
    const auto spec = measured_as(request->spec);
    auto& measured = block[{spec, request->side}];
    if (!measured)
      measured = std::make_unique<Measured>(sides_.device(request->side),
                                            std::make_unique<Workload>(sides_.session(request->side), spec));
  }
  return block;
}

BenchRun::Block BenchRun::measure(const std::string& name) {
  for (std::size_t side = 0; side < sides_.size(); ++side) static_cast<void>(sides_.device(side));
  sides_.require_room_for_weights();
  auto block = make_block(name);
  std::vector<Measured*> largest_first;
  for (const auto& [key, measured] : block) largest_first.push_back(measured.get());
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [](const Measured* a, const Measured* b) { return tokens_of(*a) > tokens_of(*b); });
  const auto say = [&](const std::string& text) {
    if (options_.progress) options_.progress(fmt::format("{}: {}", name, text));
  };
  say(fmt::format("proving the answers of {} workloads", block.size()));
  for (auto* measured : largest_first) measured->prepare();
  std::map<WorkloadSpec, SeriesGroup> groups;
  for (const auto& [key, measured] : block) groups[key.first].members.push_back(&measured->series());
  std::vector<SeriesGroup> series;
  for (const auto& [spec, group] : groups) series.push_back(group);
  say("warming up");
  auto options = rounds_options(*scenario().bench);
  options.progress = [&](std::int64_t round, std::size_t total, std::size_t open) {
    if (open == 0 || round % 10 == 0)
      say(fmt::format("round {}, {} of {} workloads want more samples", round, open, total));
  };
  run_rounds(series, options);
  say("stages, energy and memory");
  for (auto* measured : largest_first) measured->inspect();
  return block;
}

}  // namespace branchmark
