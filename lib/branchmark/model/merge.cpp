#include "branchmark/model/merge.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/digest.hpp"
#include "branchmark/base/error.hpp"
#include "branchmark/base/parallel.hpp"

namespace branchmark {
namespace {

// What is on the host at once: enough that a copy's latency does not count.
constexpr std::int64_t kBlockBytes = 4 << 20;

const bmk_matrix& stack_of(const LayerWeights& layer, Projection projection) {
  switch (projection) {
    case Projection::out_proj:
    case Projection::o_proj:
      return layer.mixer_output;
    case Projection::gate_proj:
    case Projection::up_proj:
      return layer.gate_up;
    case Projection::down_proj:
      return layer.down;
    default:
      return layer.mixer_input;
  }
}

// Row `row` of B A.
std::vector<float> product_row(const Adapter::Delta& delta, std::int64_t row, std::int64_t columns) {
  std::vector<float> sums(static_cast<std::size_t>(columns), 0.0f);
  const float* a = delta.a.data();
  const float* b = delta.b.data() + row * delta.rank;
  for (std::int64_t r = 0; r < delta.rank; ++r, a += columns) {
    const float factor = b[r];
    for (std::int64_t i = 0; i < columns; ++i) sums[static_cast<std::size_t>(i)] += factor * a[i];
  }
  return sums;
}

float add(float value, float more) {
  return value + more;
}
std::uint16_t add(std::uint16_t value, float more) {
  return float_to_bf16(bf16_to_float(value) + more);
}
bool is_finite(float value) {
  return std::isfinite(value);
}
bool is_finite(std::uint16_t value) {
  return std::isfinite(bf16_to_float(value));
}

// False where a sum is not finite.
template <class Stored>
bool add_row(std::byte* weights, const std::vector<float>& product, float scale) {
  bool finite = true;
  for (std::size_t i = 0; i < product.size(); ++i) {
    Stored value;
    std::memcpy(&value, weights + i * sizeof value, sizeof value);
    value = add(value, scale * product[i]);
    finite = finite && is_finite(value);
    std::memcpy(weights + i * sizeof value, &value, sizeof value);
  }
  return finite;
}

void merge_delta(Context& context, const Adapter::Delta& delta, const bmk_matrix& slice) {
  const auto row_bytes = slice.row_stride * size_of(slice.dtype);
  const auto rows_per_block = std::clamp<std::int64_t>(kBlockBytes / row_bytes, 1, slice.rows);
  std::vector<std::byte> block(static_cast<std::size_t>(rows_per_block * row_bytes));
  for (std::int64_t first = 0; first < slice.rows; first += rows_per_block) {
    const auto rows = rows_of(slice, first, std::min(rows_per_block, slice.rows - first));
    context.copy_to_host(block.data(), rows.data, rows.rows * row_bytes);
    context.synchronize();
    std::vector<char> finite(static_cast<std::size_t>(rows.rows));
    parallel_for(rows.rows, [&](std::int64_t i) {
      const auto product = product_row(delta, first + i, slice.columns);
      auto* weights = block.data() + i * row_bytes;
      finite[static_cast<std::size_t>(i)] = slice.dtype == BMK_BF16
                                                ? add_row<std::uint16_t>(weights, product, delta.scale)
                                                : add_row<float>(weights, product, delta.scale);
    });
    if (const auto bad = std::find(finite.begin(), finite.end(), 0); bad != finite.end())
      throw Error(ErrorCode::usage,
                  fmt::format("merging the adapter: layer {}, {}, row {}: found a sum that is not finite in "
                              "{}, expected finite weights; run the adapter unmerged",
                              delta.layer, name_of(delta.projection), first + (bad - finite.begin()),
                              name_of(slice.dtype)));
    context.copy_to_device(rows.data, block.data(), rows.rows * row_bytes);
    context.synchronize();
  }
}

}  // namespace

void merge(Context& context, const ModelConfig& config, const Adapter& adapter, Weights& weights) {
  for (const auto& delta : adapter.deltas) {
    const auto place = place_of(config, delta.projection);
    const auto& stack = stack_of(weights.layers[static_cast<std::size_t>(delta.layer)], delta.projection);
    merge_delta(context, delta, rows_of(stack, place.first_column, place.outputs));
  }
  weights.digest = sha256_hex(fmt::format("weights {}\nadapter {}\n", weights.digest, adapter.digest));
}

}  // namespace branchmark
