#include "branchmark/bench/ops/measured_op.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "branchmark/bench/samples.hpp"

namespace branchmark::ops {
namespace {

// Long beside the steps of an event's clock, short enough for ten samples of every op.
constexpr double kSampleNs = 5e5;
// A stream holds about a thousand launches, and an op may be several of these.
constexpr std::int64_t kMaxLaunches = 256;
constexpr const char* kWallCounter = "wall_ns";

template <class Bits>
std::int64_t count_non_finite(std::span<const std::byte> values, Bits exponent) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < values.size(); i += sizeof(Bits)) {
    Bits bits = 0;
    std::memcpy(&bits, values.data() + i, sizeof bits);
    if ((bits & exponent) == exponent) ++count;
  }
  return count;
}

std::int64_t count_non_finite(std::span<const std::byte> values, bmk_dtype dtype) {
  return dtype == BMK_BF16 ? count_non_finite<std::uint16_t>(values, 0x7f80)
                           : count_non_finite<std::uint32_t>(values, 0x7f800000);
}

// Many times as fast as a digest, and no one tries to deceive it.
std::size_t hash_of(const std::vector<std::byte>& output) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(output.data()), output.size()});
}

std::vector<std::byte> download_bytes(Context& context, const bmk_matrix& result) {
  const auto element = size_of(result.dtype);
  const auto row_bytes = static_cast<std::size_t>(result.columns * element);
  const auto stride = static_cast<std::size_t>(result.row_stride * element);
  std::vector<std::byte> bytes((static_cast<std::size_t>(result.rows) - 1) * stride + row_bytes);
  context.copy_to_host(bytes.data(), result.data, static_cast<std::int64_t>(bytes.size()));
  context.synchronize();
  if (row_bytes == stride) return bytes;
  for (std::size_t row = 1; row < static_cast<std::size_t>(result.rows); ++row)
    std::memmove(bytes.data() + row * row_bytes, bytes.data() + row * stride, row_bytes);
  bytes.resize(static_cast<std::size_t>(result.rows) * row_bytes);
  return bytes;
}

}  // namespace

MeasuredOp::MeasuredOp(std::shared_ptr<const Session> session, std::shared_ptr<BenchDevice> device,
                       OpSpec spec, std::string key)
    : session_(std::move(session)),
      device_(std::move(device)),
      spec_(std::move(spec)),
      key_(std::move(key)) {}

void MeasuredOp::prepare(BenchmarkRegistry& registry, OperandPool& pool) {
  series_.take = [this, &registry] { return take(registry); };
  try {
    operands_ = std::make_unique<Operands>(pool, case_key("op", spec_.parameters));
    auto work = spec_.make(*operands_);
    launch_ = std::move(work.launch);
    flop_ = work.flop;
    bytes_ = work.bytes;
    keep(launch_once());
    repeat();
    num_launches_ =
        registry.calibrate(key_, kSampleNs, kMaxLaunches, [this](benchmark::State& state) { run(state); });
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  } catch (...) {
    series_.error = std::current_exception();
    series_.stop = Stop::budget_spent;
  }
}

void MeasuredOp::set_num_launches(BenchmarkRegistry& registry, std::int64_t count) {
  if (series_.error) return;
  num_launches_ = count;
  registry.add(key_, count, [this](benchmark::State& state) { run(state); });
}

void MeasuredOp::finish() {
  try {
    if (!series_.error) repeat();
  } catch (...) {
    series_.error = std::current_exception();
  }
  series_.take = {};
  launch_ = {};
  operands_.reset();
}

void MeasuredOp::rethrow() const {
  if (series_.error) std::rethrow_exception(series_.error);
}

MeasuredOp::Outputs MeasuredOp::launch_once() {
  operands_->restore();
  operands_->poison();
  launch_();
  Outputs outputs;
  for (const auto& result : operands_->results())
    outputs.push_back(download_bytes(device_->context(), result));
  return outputs;
}

void MeasuredOp::keep(const Outputs& first) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    digests_.push_back(session_->recorded_digest(first[i], operands_->results()[i].dtype));
    hashes_.push_back(hash_of(first[i]));
    num_non_finite_ += count_non_finite(first[i], operands_->results()[i].dtype);
  }
}

void MeasuredOp::repeat() {
  const auto outputs = launch_once();
  ++num_repeated_;
  if (!std::equal(outputs.begin(), outputs.end(), hashes_.begin(), hashes_.end(),
                  [](const auto& output, std::size_t hash) { return hash_of(output) == hash; }))
    ++num_unstable_;
}

void MeasuredOp::run(benchmark::State& state) {
  auto& context = device_->context();
  auto& timer = device_->timer();
  // As a pass of the model tells the timer where it begins and ends.
  const auto timed = [&](const auto& batch) {
    return [&context, &batch](PassHook* hook) {
      hook->before_pass(context);
      batch();
      hook->after_pass(context);
      context.synchronize();
    };
  };
  const auto driven = [&] {
    for (auto _ : state) launch_();
  };
  const auto queued = [&] {
    for (std::int64_t i = 0; i < state.max_iterations; ++i) launch_();
  };
  try {
    state_.reset();
    const double launches = static_cast<double>(state.max_iterations);
    operands_->restore();
    context.synchronize();
    if (device_->is_cpu()) {
      const auto found = timer.as_found(timed(driven));
      state_ = device_->state();
      state.SetIterationTime(found.wall_ns * 1e-9);
      state.counters[kWallCounter] = found.wall_ns / launches;
      return;
    }
    const auto found = timer.as_found(timed(queued));
    operands_->restore();
    const auto busy = timer.kept_busy(timed(driven), CallTimer::filler_for(found.queue_ns),
                                      [&] { state_ = device_->state(); });
    state.SetIterationTime(busy.device_ns * 1e-9);
    state.counters[kWallCounter] = found.wall_ns / launches;
  } catch (...) {
    thrown_ = std::current_exception();
    state.SkipWithError("the op failed");
  }
}

Sample MeasuredOp::take(BenchmarkRegistry& registry) {
  const auto repetition = registry.run(key_);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return make_sample(*state_, repetition.manual_ns, repetition.counters.at(kWallCounter));
}

}  // namespace branchmark::ops
