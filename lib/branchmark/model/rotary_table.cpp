#include "branchmark/model/rotary_table.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "branchmark/base/bf16.hpp"

namespace branchmark {
namespace {

constexpr std::int64_t kFirstRows = 2048;

template <class T, class Convert>
void fill(std::vector<T>& cosines, std::vector<T>& sines, double theta, const Convert& convert) {
  std::array<float, BMK_ROTARY_FREQUENCIES> frequency;
  for (std::size_t i = 0; i < frequency.size(); ++i)
    frequency[i] = static_cast<float>(std::pow(theta, -2.0 * static_cast<double>(i) / BMK_ROTARY_DIM));
  for (std::size_t index = 0; index < cosines.size(); ++index) {
    const auto position = static_cast<float>(index / frequency.size());
    const float angle = position * frequency[index % frequency.size()];
    cosines[index] = convert(static_cast<float>(std::cos(static_cast<double>(angle))));
    sines[index] = convert(static_cast<float>(std::sin(static_cast<double>(angle))));
  }
}

}  // namespace

RotaryTable::RotaryTable(std::shared_ptr<Context> context, const ModelConfig& config, bmk_dtype activation)
    : context_(std::move(context)),
      theta_(config.rope_theta),
      max_positions_(config.max_positions),
      activation_(activation) {}

bool RotaryTable::reserve(std::int64_t count) {
  if (count <= rows_) return false;
  auto rows = std::max(rows_ * 2, kFirstRows);
  while (rows < count) rows *= 2;
  rows = std::max(count, std::min(rows, max_positions_));
  const auto entries = static_cast<std::size_t>(rows * BMK_ROTARY_FREQUENCIES);
  const auto bytes = matrix_bytes(rows, BMK_ROTARY_FREQUENCIES, activation_);
  DeviceBuffer cosines(context_, bytes);
  DeviceBuffer sines(context_, bytes);
  const auto upload = [&](auto element, const auto& convert) {
    std::vector<decltype(element)> c(entries), s(entries);
    fill(c, s, theta_, convert);
    context_->copy_to_device(cosines.data(), c.data(), bytes);
    context_->copy_to_device(sines.data(), s.data(), bytes);
    context_->synchronize();
  };
  if (activation_ == BMK_BF16)
    upload(std::uint16_t{}, float_to_bf16);
  else
    upload(float{}, [](float value) { return value; });
  cosines_ = std::move(cosines);
  sines_ = std::move(sines);
  rows_ = rows;
  return true;
}

}  // namespace branchmark
