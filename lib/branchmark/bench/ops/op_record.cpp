#include "branchmark/bench/ops/op_record.hpp"

#include <fmt/format.h>

#include <optional>

#include "branchmark/base/statistics.hpp"
#include "branchmark/bench/against.hpp"
#include "branchmark/bench/samples.hpp"
#include "branchmark/bench/validity.hpp"
#include "branchmark/verify/checks/checks.hpp"

namespace branchmark::ops {
namespace {

// Repeated before the samples and after them.
constexpr std::int64_t kRepeats = 2;

void add_rates(CaseRecord& record, const MeasuredOp& op, double device_s) {
  const auto& ceilings = op.device().ceilings();
  const auto add = [&](const std::string& work, const std::string& unit, double amount, const char* share,
                       double ceiling) {
    record.add_metric(work + "_per_second", unit, Better::higher, amount / device_s);
    record.add_metric(share, "1", Better::higher, amount / device_s / ceiling);
  };
  add("bytes", "bytes/s", op.bytes(), "copy_ceiling_share", ceilings.bytes_per_second());
  if (op.flop() > 0) add("flop", "1/s", op.flop(), "product_ceiling_share", ceilings.flop_per_second());
}

void add_times(CaseRecord& record, const MeasuredOp& op) {
  const bool cpu = op.device().is_cpu();
  const auto device = kept_times(op.series(), device_time(cpu));
  add_samples(record, "wall_ns", "ns", Better::lower, kept_times(op.series(), wall_time(cpu)), 1);
  add_samples(record, "device_ns", "ns", Better::lower, device, 1);
  std::vector<double> warm_up;
  for (const auto& sample : op.series().warm_up) warm_up.push_back(sample.*wall_time(cpu));
  add_samples(record, "warm_up_wall_ns", "ns", Better::none, std::move(warm_up), 1);
  record.add_metric("launches_per_sample", "1", Better::none, static_cast<double>(op.num_launches()));
  record.add_metric("traffic_bytes", "bytes", Better::none, op.bytes());
  if (op.flop() > 0) record.add_metric("flop", "1", Better::none, op.flop());
  if (!device.empty()) add_rates(record, op, median(device) * 1e-9);
}

void add_parity(CaseRecord& record, const MeasuredOp& op) {
  record.digests = op.digests();
  witness(record, "repeats_compared", kRepeats, op.num_repeated());
  if (op.num_non_finite() > 0)
    add_parity_failure(record, fmt::format("{} values of the outputs are NaN, infinite or were not written",
                                           op.num_non_finite()));
  if (op.num_unstable() > 0)
    add_parity_failure(record, fmt::format("{} of {} repeated launches gave other bits than the first one",
                                           op.num_unstable(), op.num_repeated()));
}

// The measurement, or nothing where the module lacks the op, which the record then says.
const MeasuredOp* measured_op(CaseRecord& record, OpRun& run, const OpRun::Request& request) {
  const auto& op = run.measured(request);
  try {
    op.rethrow();
  } catch (const operators::OpUnsupported&) {
    record.outcome = Outcome::skipped;
    record.skip_reason = "op_unsupported";
    return nullptr;
  }
  return &op;
}

void judge(CaseRecord& record, const MeasuredOp& op, const Scenario& scenario) {
  add_parity(record, op);
  judge_samples(record, op.series(), op.device(), *scenario.bench);
}

}  // namespace

void record_op(CaseRecord& record, OpRun& run, const OpRun::Request& request) {
  const auto* op = measured_op(record, run, request);
  if (op == nullptr) return;
  add_times(record, *op);
  add_device_state(record, op->series());
  judge(record, *op, run.scenario());
}

void record_op_pair(CaseRecord& record, OpRun& run, const OpRun::Request& a, const OpRun::Request& b) {
  std::vector<SideResult> sides;
  for (const auto* request : {&a, &b}) {
    const auto* op = measured_op(record, run, *request);
    if (op == nullptr) return;
    CaseRecord alone;
    judge(alone, *op, run.scenario());
    sides.push_back({&op->series(), op->digests(), alone.invalid_reasons});
  }
  record_against(record, sides[0], sides[1], run.sides().device(0)->is_cpu());
}

}  // namespace branchmark::ops
