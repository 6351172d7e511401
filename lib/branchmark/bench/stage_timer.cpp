#include "branchmark/bench/stage_timer.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "branchmark/base/statistics.hpp"
#include "branchmark/device/device_buffer.hpp"

namespace branchmark {
namespace {

// What one op takes more between events of its own than in a row of its kind, of ops that do next to nothing.
double measure_seam_ns(const std::shared_ptr<Context>& context, StreamFiller& filler) {
  constexpr std::size_t kOps = 64;
  constexpr double kFillerNs = 2e6;  // all of them are queued before the first runs
  constexpr std::int64_t kRows = 1, kColumns = 64;
  const auto bytes = matrix_bytes(kRows, kColumns, BMK_F32);
  DeviceBuffer buffer(context, 2 * bytes);
  context->fill(buffer.data(), 0, buffer.bytes());
  const bmk_copy_2d_args args{.struct_size = sizeof args,
                              .in = matrix(buffer.data(), kRows, kColumns, BMK_F32),
                              .out = matrix(buffer.as<char>() + bytes, kRows, kColumns, BMK_F32)};
  std::vector<Event> events;
  for (std::size_t i = 0; i < 2 * kOps + 2; ++i) events.emplace_back(context);
  const auto run = [&] { context->op("copy_2d", context->table().ops->copy_2d, args); };

  filler.occupy(kFillerNs);
  for (std::size_t i = 0; i < kOps; ++i) {
    events[2 * i].record();
    run();
    events[2 * i + 1].record();
  }
  events[2 * kOps].record();
  for (std::size_t i = 0; i < kOps; ++i) run();
  events[2 * kOps + 1].record();
  context->synchronize();
  std::vector<double> alone;
  for (std::size_t i = 0; i < kOps; ++i) alone.push_back(events[2 * i + 1].elapsed_ns_since(events[2 * i]));
  const double in_a_row = events[2 * kOps + 1].elapsed_ns_since(events[2 * kOps]) / kOps;
  return std::max(0.0, median(alone) - in_a_row);
}

}  // namespace

std::string_view name_of(Stage stage) {
  switch (stage) {
    case Stage::gemm:
      return "gemm";
    case Stage::gdn:
      return "gdn";
    case Stage::attention:
      return "attention";
    case Stage::elementwise:
      return "elementwise";
  }
  return "gemm";
}

// The last op of each stretch, of those that observer.hpp lists.
StageMark stage_mark(std::string_view op) {
  if (op == "mixer_input" || op == "mixer_output" || op == "gate_up" || op == "down")
    return {Stage::gemm, true};
  if (op == "gated_rms_norm") return {Stage::gdn, true};
  if (op == "gated_attention") return {Stage::attention, true};
  if (op == "layer_input" || op == "post_norm" || op == "silu_mul") return {Stage::elementwise, true};
  return {};
}

double StageTimes::sum_ns() const {
  return std::accumulate(ns.begin(), ns.end(), 0.0);
}

StageTimer::StageTimer(std::shared_ptr<Context> context, StreamFiller& filler)
    : context_(std::move(context)), filler_(filler) {}

std::size_t StageTimer::record() {
  if (num_events_ == events_.size()) {
    events_.emplace_back(context_);
    made_events_ = true;
  }
  events_[num_events_].record();
  return num_events_++;
}

void StageTimer::end_stage(Stage stage) {
  const auto end = record();
  stages_.push_back({stage, stage_begin_, end});
  stage_begin_ = record();
}

void StageTimer::before_pass(Context&) {
  filler_.occupy(filler_ns_);
  const auto begin = record();
  passes_.emplace_back(begin, begin);
}

void StageTimer::begin_pass(const std::vector<RunRows>&) {
  stage_begin_ = record();
}

bool StageTimer::wants(std::int64_t, std::string_view op) const {
  return stage_mark(op).ends_here;
}

void StageTimer::observe(Context&, std::int64_t, std::string_view op, const bmk_matrix&) {
  end_stage(stage_mark(op).stage);
}

void StageTimer::after_pass(Context&) {
  // The last norm and the gathering of result rows.
  const auto end = record();
  stages_.push_back({Stage::elementwise, stage_begin_, end});
  passes_.back().second = end;
}

void StageTimer::start(double filler_ns) {
  forget();
  filler_ns_ = filler_ns;
  if (!filler_.empty()) seam_ns_ = measure_seam_ns(context_, filler_);
}

void StageTimer::forget() {
  stages_.clear();
  passes_.clear();
  num_events_ = 0;
  made_events_ = false;
}

StageTimes StageTimer::take() {
  StageTimes times;
  for (const auto& span : stages_)
    times.ns[static_cast<std::size_t>(span.stage)] +=
        std::max(0.0, events_[span.end].elapsed_ns_since(events_[span.begin]) - seam_ns_);
  for (const auto& [begin, end] : passes_) times.whole_ns += events_[end].elapsed_ns_since(events_[begin]);
  times.made_events = made_events_;
  forget();
  return times;
}

}  // namespace branchmark
