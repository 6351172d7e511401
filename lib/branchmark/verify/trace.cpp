#include "branchmark/verify/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "branchmark/base/bf16.hpp"
#include "branchmark/device/device_buffer.hpp"

namespace branchmark {
namespace {

constexpr std::string_view kStreamOps[] = {"layer_input", "final_norm"};

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// The rows of the run, among those of a prompt, that holds a position.
const Trace::Rows* holder(const Trace& trace, const Trace::Place& place, const RunChain& runs,
                          std::int64_t position) {
  for (const auto run : runs) {
    const auto* rows = trace.rows(place, run);
    if (rows != nullptr && position >= rows->first_position &&
        position < rows->first_position + rows->num_rows())
      return rows;
  }
  return nullptr;
}

// The first position that the trace has of a prompt: a continued window begins past its prefix.
std::int64_t first_position(const Trace& trace, const Trace::Place& place, const RunChain& runs) {
  for (const auto run : runs)
    if (const auto* rows = trace.rows(place, run); rows != nullptr) return rows->first_position;
  return 0;
}

std::string hex(float value, bmk_dtype dtype) {
  return dtype == BMK_BF16 ? fmt::format("{:#06x} ({})", float_to_bf16(value), value)
                           : fmt::format("{:#010x} ({})", std::bit_cast<std::uint32_t>(value), value);
}

}  // namespace

bool Trace::wants(std::int64_t layer, std::string_view op) const {
  if (layer_) return layer == *layer_;
  return std::find(std::begin(kStreamOps), std::end(kStreamOps), op) != std::end(kStreamOps);
}

void Trace::observe(Context& context, std::int64_t layer, std::string_view op, const bmk_matrix& out) {
  const Place place{layer, std::string(op)};
  if (std::find(places_.begin(), places_.end(), place) == places_.end()) places_.push_back(place);
  const auto values = download(context, out);
  for (const auto& run : runs_) {
    const auto begin = values.begin() + run.first_row * out.columns;
    rows_[{place, run.run}] = {
        run.first_position, out.columns, out.dtype, {begin, begin + run.num_rows * out.columns}};
  }
}

const Trace::Rows* Trace::rows(const Place& place, std::int64_t run) const {
  const auto found = rows_.find({place, run});
  return found == rows_.end() ? nullptr : &found->second;
}

std::optional<Difference> first_difference(const Trace& left, const RunChain& left_runs, const Trace& right,
                                           const RunChain& right_runs) {
  for (const auto& place : left.places()) {
    const auto begin =
        std::max(first_position(left, place, left_runs), first_position(right, place, right_runs));
    for (std::int64_t position = begin;; ++position) {
      const auto* a = holder(left, place, left_runs, position);
      const auto* b = holder(right, place, right_runs, position);
      if (a == nullptr || b == nullptr) break;
      for (std::int64_t column = 0; column < a->columns; ++column) {
        const float x = a->row(position)[column];
        const float y = b->row(position)[column];
        if (!same_bits(x, y)) return Difference{place.first, place.second, position, column, x, y, a->dtype};
      }
    }
  }
  return std::nullopt;
}

std::string describe(const Difference& d) {
  auto text = fmt::format("layer {}, op {}, row {}, column {}: {} and {}", d.layer, d.op, d.position,
                          d.column, hex(d.left, d.dtype), hex(d.right, d.dtype));
  if (d.dtype == BMK_BF16 && std::isfinite(d.left) && std::isfinite(d.right))
    text +=
        fmt::format(", {} bf16 ulp apart", ulp_distance_bf16(float_to_bf16(d.left), float_to_bf16(d.right)));
  return text;
}

}  // namespace branchmark
