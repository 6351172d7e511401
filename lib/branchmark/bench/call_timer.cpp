#include "branchmark/bench/call_timer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace branchmark {
namespace {

constexpr std::int64_t kFillerBytes = std::int64_t{512} << 20;
constexpr int kFillsMeasured = 8;
// A stream holds about a thousand launches; fills beyond these would make the host wait for them.
constexpr double kMaxFills = 256;
// Queueing differs from call to call; what a filler covers beyond the slowest seen.
constexpr double kFillerMargin = 1.5;
constexpr double kFillerAtLeastNs = 2e5;

}  // namespace

double now_ns() {
  return static_cast<double>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

StreamFiller::StreamFiller(std::shared_ptr<Context> context) : context_(std::move(context)) {
  if (context_->info().is_cpu != 0) return;
  buffer_ = DeviceBuffer(context_, std::min(kFillerBytes, context_->info().memory_bytes / 64));
  Event begin(context_), end(context_);
  context_->fill(buffer_.data(), 0, buffer_.bytes());
  begin.record();
  for (int i = 0; i < kFillsMeasured; ++i) context_->fill(buffer_.data(), i, buffer_.bytes());
  end.record();
  context_->synchronize();
  ns_per_fill_ = std::max(1000.0, end.elapsed_ns_since(begin) / kFillsMeasured);
}

void StreamFiller::occupy(double ns) {
  if (empty() || ns <= 0) return;
  const auto fills = static_cast<int>(std::min(kMaxFills, std::ceil(ns / ns_per_fill_)));
  for (int i = 0; i < fills; ++i) context_->fill(buffer_.data(), i & 0xff, buffer_.bytes());
}

CallTimer::CallTimer(std::shared_ptr<Context> context, StreamFiller& filler)
    : context_(std::move(context)), filler_(filler) {}

double CallTimer::filler_for(double queue_ns) {
  return std::max(kFillerAtLeastNs, kFillerMargin * queue_ns);
}

CallTime CallTimer::as_found(const Call& call) {
  filler_ns_ = 0;
  meanwhile_ = {};
  return run(call);
}

CallTime CallTimer::kept_busy(const Call& call, double filler_ns, const std::function<void()>& meanwhile) {
  filler_ns_ = filler_ns;
  meanwhile_ = meanwhile;
  return run(call);
}

CallTime CallTimer::run(const Call& call) {
  num_passes_ = 0;
  queue_ns_ = 0;
  const double begin = now_ns();
  call(this);
  CallTime time;
  time.wall_ns = now_ns() - begin;
  time.queue_ns = queue_ns_;
  for (std::size_t pass = 0; pass < num_passes_; ++pass)
    time.device_ns += events_[pass].end.elapsed_ns_since(events_[pass].begin);
  return time;
}

void CallTimer::before_pass(Context&) {
  // Grows in the first call of a kind only, which is a warm-up.
  if (num_passes_ == events_.size()) events_.push_back({Event(context_), Event(context_)});
  filler_.occupy(filler_ns_);
  queue_began_ns_ = now_ns();
  events_[num_passes_].begin.record();
}

void CallTimer::after_pass(Context&) {
  events_[num_passes_].end.record();
  queue_ns_ = std::max(queue_ns_, now_ns() - queue_began_ns_);
  ++num_passes_;
  if (meanwhile_) meanwhile_();
}

}  // namespace branchmark
