#include "branchmark/bench/bench_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/base/statistics.hpp"
#include "branchmark/bench/against.hpp"
#include "branchmark/bench/samples.hpp"
#include "branchmark/bench/validity.hpp"
#include "branchmark/bench/work.hpp"
#include "branchmark/model/weights.hpp"

namespace branchmark {
namespace {

// Times, rates and work of `copies` calls (more than one where one prompt stands for several).
void add_times(CaseRecord& record, const Measured& measured, std::int64_t copies) {
  const double factor = real(copies);
  const auto wall = measured.wall_ns();
  const auto device = measured.device_ns();
  add_samples(record, "wall_ns", "ns", Better::lower, wall, factor);
  add_samples(record, "device_ns", "ns", Better::lower, device, factor);
  add_samples(record, "warm_up_wall_ns", "ns", Better::none, measured.warm_up_wall_ns(), 1);

  const auto work = measured.workload().work();
  const double asked = factor * real(measured.workload().shape().asked_tokens());
  const double ran = factor * real(work.run_tokens);
  record.add_metric("asked_tokens", "tokens", Better::none, asked);
  record.add_metric("run_tokens", "tokens", Better::lower, ran);
  record.add_metric("passes", "1", Better::none, factor * real(work.num_passes));
  record.add_metric("flop", "1", Better::none, factor * work.flop());
  record.add_metric("traffic_bytes", "bytes", Better::none, factor * work.bytes);
  record.add_metric("op_launches", "1", Better::lower, factor * real(measured.counters_of_call().ops));
  record.add_metric("gemm_launches", "1", Better::lower, factor * real(measured.counters_of_call().gemms));
  const auto plan = measured.workload().plan();
  record.add_metric("state_bytes", "bytes", Better::lower, plan ? real(plan->peak_state_bytes) : 0);
  record.add_metric("weights_bytes", "bytes", Better::none,
                    real(weights_bytes(measured.workload().config())));
  if (wall.empty() || device.empty()) return;
  const double wall_s = factor * median(wall) * 1e-9;
  const double device_s = factor * median(device) * 1e-9;
  record.add_metric("asked_tokens_per_second", "tokens/s", Better::higher, asked / wall_s);
  record.add_metric("run_tokens_per_second", "tokens/s", Better::higher, ran / wall_s);
  const auto& ceilings = measured.device().ceilings();
  record.add_metric("flop_per_second", "1/s", Better::higher, factor * work.flop() / device_s);
  record.add_metric("bytes_per_second", "bytes/s", Better::higher, factor * work.bytes / device_s);
  record.add_metric("product_ceiling_share", "1", Better::higher,
                    factor * work.flop() / device_s / ceilings.flop_per_second());
  record.add_metric("copy_ceiling_share", "1", Better::higher,
                    factor * work.bytes / device_s / ceilings.bytes_per_second());
}

void add_inspection(CaseRecord& record, const Measured& measured, std::int64_t copies) {
  if (!measured.inspection()) return;
  const auto& found = *measured.inspection();
  const double factor = real(copies);
  const auto add = [&](const std::string& name, const auto& value_of) {
    std::vector<double> samples;
    for (const auto& times : found.stages) samples.push_back(value_of(times));
    add_samples(record, name, "ns", Better::lower, std::move(samples), factor);
  };
  for (std::size_t i = 0; i < kNumStages; ++i)
    add(fmt::format("stage_{}_ns", name_of(static_cast<Stage>(i))),
        [i](const StageTimes& times) { return times.ns[i]; });
  record.metrics["stage_gaps_ns"] = {
      .unit = "ns", .better = Better::lower, .samples = {factor * measured.gaps_ns()}, .derived = true};
  record.add_metric("stage_coverage_ratio", "1", Better::none, measured.stage_coverage());
  record.add_metric("peak_device_bytes", "bytes", Better::lower, found.peak_device_bytes);
  if (found.energy_joules)
    record.metrics["energy_joules"] = {.unit = "J",
                                       .better = Better::lower,
                                       .samples = {factor * *found.energy_joules},
                                       .derived = copies != 1};
}

// The record's time over another's, by both clocks; nothing where the other was not selected or has no
// samples.
void add_ratio(CaseRecord& record, const std::string& name, const Measured* one, std::int64_t copies,
               const Measured* other, std::int64_t other_copies) {
  if (one == nullptr || other == nullptr) return;
  const auto ratio = [&](const std::string& clock, const std::vector<double>& ours,
                         const std::vector<double>& theirs) {
    if (ours.empty() || theirs.empty()) return;
    record.add_metric(fmt::format("{}_{}_ratio", name, clock), "1", Better::lower,
                      median(ours) * real(copies) / (median(theirs) * real(other_copies)));
  };
  ratio("wall", one->wall_ns(), other->wall_ns());
  ratio("device", one->device_ns(), other->device_ns());
}

void add_parity(CaseRecord& record, const Measured& measured) {
  record.digests = measured.digests();
  const auto planned = static_cast<std::int64_t>(record.digests.size());
  record.witness["prompts_compared"] = {planned, planned};
  const auto work = measured.workload().work();
  record.witness["passes"] = {work.num_passes, measured.statistics_of_call().passes};
  record.witness["tokens_run"] = {work.run_tokens, measured.statistics_of_call().tokens_run};
  record.witness["allocations"] = {0, measured.num_allocations()};
  if (measured.workload().spec().graph == GraphMode::on)
    record.witness["graph_replays"] = {measured.num_calls(), measured.num_replays()};
  record.add_metric("relative_l2", "1", Better::lower, measured.parity().relative_l2);
  record.add_metric("calls_compared", "1", Better::none, real(measured.num_calls()));
}

void add_all(CaseRecord& record, const Measured& measured, std::int64_t copies) {
  add_times(record, measured, copies);
  add_device_state(record, measured.series());
  add_inspection(record, measured, copies);
  add_parity(record, measured);
}

// Whether the device cannot run it, which the record then says.
bool skips(CaseRecord& record, BenchRun& run, const BenchRun::Request& request) {
  if (run.supports(request)) return false;
  record.outcome = Outcome::skipped;
  record.skip_reason = "graph_unsupported";
  return true;
}

SideResult side_result(BenchRun& run, const BenchRun::Request& request) {
  const auto& measured = run.measured(request);
  measured.rethrow();
  CaseRecord alone;
  judge(alone, measured, run.scenario());
  return {&measured.series(), measured.digests(), alone.invalid_reasons};
}

}  // namespace

void record_ceiling(CaseRecord& record, BenchDevice& device, bool product) {
  const auto& ceilings = device.ceilings();
  add_samples(record, "device_ns", "ns", Better::lower, product ? ceilings.product_ns : ceilings.copy_ns, 1);
  if (product) {
    record.add_metric("size", "1", Better::none, real(ceilings.product_size));
    record.add_metric("flop_per_second", "1/s", Better::higher, ceilings.flop_per_second());
  } else {
    record.add_metric("copied_bytes", "bytes", Better::none, real(ceilings.copy_bytes));
    record.add_metric("bytes_per_second", "bytes/s", Better::higher, ceilings.bytes_per_second());
  }
  record.outcome = Outcome::pass;
}

void record_single(CaseRecord& record, BenchRun& run, const BenchRun::Request& request) {
  if (skips(record, run, request)) return;
  const auto& measured = run.measured(request);
  measured.rethrow();
  add_all(record, measured, 1);
  WorkloadSpec eager = request.spec;
  eager.way = Way::forward;
  eager.gemm = GemmKind::default_choice;
  eager.graph = GraphMode::off;
  const auto* forward = run.find(request, eager);
  if (request.spec.way == Way::forward_fixed)
    add_ratio(record, fmt::format("{}_over_default", name_of(request.spec.gemm)), &measured, 1, forward, 1);
  if (request.spec.graph == GraphMode::on) add_ratio(record, "graph_over_eager", &measured, 1, forward, 1);
  judge(record, measured, run.scenario());
}

void record_shared(CaseRecord& record, BenchRun& run, const BenchRun::Request& request,
                   const PromptsShape& shape) {
  const auto& measured = run.measured(request);
  measured.rethrow();
  const bool alone = request.spec.way == Way::forward || request.spec.way == Way::forward_fixed;
  add_all(record, measured, alone ? shape.branches : 1);
  if (request.spec.way == Way::packed) {
    auto other = request.spec;
    other.way = Way::per_branch;
    add_ratio(record, "packed_over_per_branch", &measured, 1, run.find(request, other), 1);
    other.shape.branches = 1;
    other.way = Way::forward_fixed;
    add_ratio(record, "packed_over_alone_fixed", &measured, 1, run.find(request, other), shape.branches);
    other.way = Way::forward;
    other.gemm = GemmKind::default_choice;
    add_ratio(record, "packed_over_alone", &measured, 1, run.find(request, other), shape.branches);
  }
  if (!alone)
    record.add_metric("saved_tokens", "tokens", Better::higher,
                      real(shape.asked_tokens() - measured.workload().work().run_tokens));
  judge(record, measured, run.scenario());
}

void record_pair(CaseRecord& record, BenchRun& run, const BenchRun::Request& a, const BenchRun::Request& b) {
  if (skips(record, run, a) || skips(record, run, b)) return;
  const auto on_a = side_result(run, a);
  record_against(record, on_a, side_result(run, b), run.sides().device(0)->is_cpu());
}

}  // namespace branchmark
