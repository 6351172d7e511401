#include "branchmark/bench/measured.hpp"

#include <algorithm>

#include "branchmark/base/statistics.hpp"
#include "branchmark/bench/samples.hpp"

namespace branchmark {
namespace {

CallCounters difference(const CallCounters& after, const CallCounters& before) {
  CallCounters counters;
  counters.calls = after.calls - before.calls;
  counters.ops = after.ops - before.ops;
  counters.gemms = after.gemms - before.gemms;
  counters.allocations = after.allocations - before.allocations;
  return counters;
}

}  // namespace

Measured::Measured(std::shared_ptr<BenchDevice> device, std::unique_ptr<Workload> workload)
    : device_(std::move(device)), workload_(std::move(workload)) {
  series_.take = [this] { return watched([this] { return take(); }); };
  series_.take_warm_up = [this] { return watched([this] { return take_warm_up(); }); };
}

void Measured::prepare() {
  try {
    answers_ = workload_->call();
    parity_ = workload_->parity(answers_);
    const auto before = device_->context().counters();
    const auto model_before = workload_->model()->statistics();
    // The second call allocates and, with graphs on, records nothing: what it asks is what every later one
    // asks.
    check(workload_->call());
    counters_ = difference(device_->context().counters(), before);
    statistics_ = workload_->model()->statistics();
    statistics_.passes -= model_before.passes;
    statistics_.tokens_run -= model_before.tokens_run;
    num_calls_ = 0;
  } catch (...) {
    series_.error = std::current_exception();
    series_.stop = Stop::budget_spent;
  }
}

void Measured::inspect() {
  if (series_.error || series_.samples.empty()) return;
  try {
    inspection_ = branchmark::inspect(*device_, *workload_, series_.samples.back().deciding_ns, queue_ns_);
  } catch (...) {
    series_.error = std::current_exception();
  }
}

// Events cost a CPU nothing, and its times scatter: there the very calls are compared that were observed.
double Measured::staged_whole_ns() const {
  if (!device_->is_cpu()) return median(inspection_->unobserved_ns);
  std::vector<double> wholes;
  for (const auto& times : inspection_->stages) wholes.push_back(times.whole_ns);
  return median(wholes);
}

double Measured::staged_sum_ns() const {
  std::vector<double> sums;
  for (const auto& times : inspection_->stages) sums.push_back(times.sum_ns());
  return median(sums);
}

double Measured::stage_coverage() const {
  return staged_sum_ns() / staged_whole_ns();
}

double Measured::gaps_ns() const {
  return std::max(0.0, staged_whole_ns() - staged_sum_ns());
}

void Measured::rethrow() const {
  if (series_.error) std::rethrow_exception(series_.error);
}

void Measured::check(const std::vector<HiddenRows>& answers) {
  ++num_calls_;
  if (!std::equal(answers.begin(), answers.end(), answers_.begin(), answers_.end(), same_bits))
    ++num_unstable_;
}

CallTimer::Call Measured::timed_call() {
  return [this](PassHook* hook) { latest_ = workload_->call(hook); };
}

// Counts what no sampled call may do, and what a sampled call with graphs on must.
Sample Measured::watched(const std::function<Sample()>& take) {
  const auto allocations = device_->context().counters().allocations;
  const auto replays = workload_->model()->statistics().graphs.replays;
  auto sample = take();
  num_allocations_ += device_->context().counters().allocations - allocations;
  num_replays_ += workload_->model()->statistics().graphs.replays - replays;
  return sample;
}

Sample Measured::take_warm_up() {
  const auto found = device_->timer().as_found(timed_call());
  check(latest_);
  queue_ns_ = std::max(queue_ns_, found.queue_ns);
  const bool cpu = device_->is_cpu();
  return make_sample(device_->state(), cpu ? found.wall_ns : found.device_ns,
                     cpu ? found.device_ns : found.wall_ns);
}

Sample Measured::take() {
  auto& timer = device_->timer();
  // Also what the timed pass finds the device after: its own like, whatever else is sampled beside it.
  const auto found = timer.as_found(timed_call());
  check(latest_);
  if (device_->is_cpu()) return make_sample(device_->state(), found.wall_ns, found.device_ns);
  queue_ns_ = std::max(queue_ns_, found.queue_ns);
  // Read while the device is at this very work: between samples it would say that it is idle.
  std::optional<Telemetry> state;
  const auto read = [&] {
    if (!state) state = device_->state();
  };
  const auto busy = timer.kept_busy(timed_call(), CallTimer::filler_for(queue_ns_), read);
  check(latest_);
  return make_sample(*state, busy.device_ns, found.wall_ns);
}

std::vector<double> Measured::wall_ns() const {
  return kept_times(series_, wall_time(device_->is_cpu()));
}

std::vector<double> Measured::device_ns() const {
  return kept_times(series_, device_time(device_->is_cpu()));
}

std::vector<double> Measured::warm_up_wall_ns() const {
  std::vector<double> times;
  for (const auto& sample : series_.warm_up)
    times.push_back(device_->is_cpu() ? sample.deciding_ns : sample.other_ns);
  return times;
}

bool Measured::parity_passed() const {
  if (answers_.empty() || num_unstable_ > 0) return false;
  return workload_->spec().way == Way::forward ? parity_.relative_l2 <= kForwardParityBound : parity_.equal;
}

std::vector<std::string> Measured::digests() const {
  std::vector<std::string> digests;
  for (const auto& answer : answers_) digests.push_back(workload_->recorded_digest(answer));
  return digests;
}

}  // namespace branchmark
