#include "branchmark/bench/bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace branchmark {
namespace {

// A case is expected to need this share of its budget: most stop at the least number of samples.
constexpr double kExpectedShare = 0.1;

std::int64_t tokens_of(const Measured& measured) {
  return measured.workload().shape().asked_tokens();
}

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

}  // namespace

BenchRun::BenchRun(std::shared_ptr<Session> session, BenchOptions options)
    : session_(std::move(session)), options_(std::move(options)) {}

std::shared_ptr<const BenchRun::Request> BenchRun::want(const std::string& block, const WorkloadSpec& spec) {
  auto request = std::make_shared<const Request>(Request{block, spec});
  requests_.push_back(request);
  return request;
}

BenchDevice& BenchRun::device() {
  if (device_ == nullptr) device_ = std::make_shared<BenchDevice>(session_->context());
  return *device_;
}

double BenchRun::planned_s(const std::string& block) const {
  if (blocks_.contains(block)) return 0;
  std::set<WorkloadSpec> specs;
  for (const auto& weak : requests_)
    if (const auto request = weak.lock(); request && request->block == block) specs.insert(request->spec);
  return kExpectedShare * static_cast<double>(specs.size()) * scenario().bench->case_budget_s;
}

bool BenchRun::supports(const WorkloadSpec& spec) {
  return spec.graph == GraphMode::off || session_->graph_model() != nullptr;
}

Measured& BenchRun::measured(const Request& request) {
  auto block = blocks_.find(request.block);
  if (block == blocks_.end()) block = blocks_.emplace(request.block, measure(request.block)).first;
  return *block->second.at(request.spec);
}

const Measured* BenchRun::find(const std::string& block, const WorkloadSpec& spec) const {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return nullptr;
  const auto measured = found->second.find(spec);
  return measured == found->second.end() ? nullptr : measured->second.get();
}

BenchRun::Block BenchRun::measure(const std::string& name) {
  static_cast<void>(device());
  Block block;
  for (const auto& weak : requests_) {
    const auto request = weak.lock();
    if (!request || request->block != name || block.contains(request->spec) || !supports(request->spec))
      continue;
    block.emplace(request->spec,
                  std::make_unique<Measured>(device_, std::make_unique<Workload>(session_, request->spec)));
  }

  std::vector<Measured*> largest_first;
  for (const auto& [spec, measured] : block) largest_first.push_back(measured.get());
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [](const Measured* a, const Measured* b) { return tokens_of(*a) > tokens_of(*b); });
  const auto say = [&](const std::string& text) {
    if (options_.progress) options_.progress(fmt::format("{}: {}", name, text));
  };
  say(fmt::format("proving the answers of {} workloads", block.size()));
  std::vector<Series*> series;
  for (auto* measured : largest_first) {
    measured->prepare();
    series.push_back(&measured->series());
  }
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
