#include "branchmark/bench/ceilings.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "branchmark/base/random.hpp"
#include "branchmark/base/statistics.hpp"
#include "branchmark/device/device_buffer.hpp"
#include "branchmark/device/event.hpp"
#include "branchmark/device/gemm.hpp"

namespace branchmark {
namespace {

// Sizes are doubled from the first to the last, until one takes this long: an H200 gets to the last of both.
constexpr double kLongEnoughNs = 1e6;
constexpr std::int64_t kFirstProduct = 512;
constexpr std::int64_t kLastProduct = 8192;
constexpr std::int64_t kFirstCopyBytes = std::int64_t{64} << 20;
constexpr std::int64_t kLastCopyBytes = std::int64_t{4} << 30;
constexpr int kWarmUps = 3;
constexpr int kSamples = 11;

// Each sample between events of its own, all queued at once: only the first can find the stream idle, and it
// is a warm-up.
std::vector<double> time_queued(const std::shared_ptr<Context>& context, const std::function<void()>& queue) {
  std::vector<Event> events;
  for (int i = 0; i <= kWarmUps + kSamples; ++i) events.emplace_back(context);
  events.front().record();
  for (std::size_t i = 1; i < events.size(); ++i) {
    queue();
    events[i].record();
  }
  context->synchronize();
  std::vector<double> times;
  for (std::size_t i = kWarmUps + 1; i < events.size(); ++i)
    times.push_back(events[i].elapsed_ns_since(events[i - 1]));
  return times;
}

// Values of standard deviation one: zeros run faster.
void fill_random(Context& context, const bmk_matrix& out, std::string_view name) {
  const bmk_synthetic_fill_args args{
      .struct_size = sizeof args, .key = random_key(1, name), .exponent = -15, .mean = 0, .out = out};
  context.op("synthetic_fill", context.table().ops->synthetic_fill, args);
}

std::vector<double> time_product(const std::shared_ptr<Context>& context, std::int64_t size) {
  const auto bytes = matrix_bytes(size, size, BMK_BF16);
  DeviceBuffer buffer(context, 3 * bytes);
  const auto at = [&](std::int64_t index) {
    return matrix(buffer.as<char>() + index * bytes, size, size, BMK_BF16);
  };
  fill_random(*context, at(0), "ceiling x");
  fill_random(*context, at(1), "ceiling w");
  Gemm gemm(context, {.kind = GemmKind::default_choice, .trust_cache = false, .cache_file = {}});
  const std::int64_t rows[] = {size};
  gemm.prepare(shape_of(at(0), at(1), at(2)), rows);
  return time_queued(context, [&] { gemm.run(at(0), at(1), at(2)); });
}

std::vector<double> time_copy(const std::shared_ptr<Context>& context, std::int64_t bytes) {
  constexpr std::int64_t kColumns = 1024;
  DeviceBuffer from(context, bytes), to(context, bytes);
  fill_random(*context, matrix(from.data(), bytes / (kColumns * size_of(BMK_F32)), kColumns, BMK_F32),
              "ceiling copy");
  return time_queued(context, [&] { context->copy_on_device(to.data(), from.data(), bytes); });
}

// The first size that takes long enough and its times, or the last.
std::pair<std::int64_t, std::vector<double>> time_sizes(
    std::int64_t first, std::int64_t last, const std::function<std::vector<double>(std::int64_t)>& time) {
  for (auto size = first;; size *= 2) {
    auto times = time(size);
    if (median(times) >= kLongEnoughNs || 2 * size > last) return {size, std::move(times)};
  }
}

}  // namespace

double Ceilings::product_flop() const {
  const auto size = static_cast<double>(product_size);
  return 2 * size * size * size;
}

double Ceilings::flop_per_second() const {
  return product_flop() / (median(product_ns) * 1e-9);
}

double Ceilings::bytes_per_second() const {
  return moved_bytes() / (median(copy_ns) * 1e-9);
}

Ceilings measure_ceilings(std::shared_ptr<Context> context) {
  Ceilings ceilings;
  std::tie(ceilings.product_size, ceilings.product_ns) =
      time_sizes(kFirstProduct, kLastProduct, [&](std::int64_t size) { return time_product(context, size); });
  std::tie(ceilings.copy_bytes, ceilings.copy_ns) =
      time_sizes(kFirstCopyBytes, std::min(kLastCopyBytes, context->free_bytes() / 4),
                 [&](std::int64_t bytes) { return time_copy(context, bytes); });
  return ceilings;
}

}  // namespace branchmark
