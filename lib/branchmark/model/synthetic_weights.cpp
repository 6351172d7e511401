// Scales. A generated element is mean + s · 2^e, where s has standard deviation 37,837 = 2^15.2. Every scale
// is a power of two, so a standard deviation is met within a factor √2.
//
//   role          std            what follows from it
//   embedding     2^0.2          the residual stream begins at order one
//   norm          2^-2.8         rows of rms about one after 1 + w
//   projection    K^-1/2         outputs of std about one: silu, sigmoid and softplus work on their bends
//   beta          2 K^-1/2       β = sigmoid(b) spreads over 0.01 ... 0.99
//   conv          2^-0.8         four taps sum to std about 1.2; silu then gives q and k a positive mean, so
//   that
//                                a read is not the difference of cancelling terms
//   A_log, dt     uniform        exp(A_log) in 0.018 ... 16, softplus(a + dt_bias) mostly in 0.002 ... 2: a
//                                token's decay lies between 0.9999 and nothing, so states both hold and
//                                forget
//   head_norm     0.5 + 2^-2.8   scores of std about 2.3 with the scale 1/16: attention picks positions
//   gdn_norm      1 + 2^-2.8     heads of rms about 0.7 after the gate
//   to_residual   K^-1/2 / 4     inputs of rms 0.5 ... 0.8, so a layer adds about 0.17 twice: the variance of
//   the
//                                stream grows from 1.3 by 0.06 a layer, to 5 after 64 layers
#include <cmath>

#include <fmt/format.h>

#include "branchmark/base/digest.hpp"
#include "branchmark/base/random.hpp"
#include "branchmark/model/tensor_list.hpp"

namespace branchmark {
namespace {

// Part of the digest: to be raised when any value below changes.
constexpr int kRecipeVersion = 1;

// The exponent e for which 37,837 · 2^e is K^-1/2 within a factor √2: (37,837 · 2^e)² K in (1/2, 2].
// Integers, since a logarithm may round differently elsewhere.
std::int32_t fan_in_exponent(std::int64_t k) {
  constexpr std::int64_t kVariance = 37837ll * 37837ll;
  std::int32_t exponent = 0;
  for (std::int64_t bound = 2; bound < k * kVariance; bound *= 4) --exponent;
  return exponent;
}

struct Scale {
  std::int32_t exponent = 0;
  float mean = 0;
};

Scale scale_of(TensorRole role, std::int64_t columns) {
  switch (role) {
    case TensorRole::embedding:
      return {-15, 0};
    case TensorRole::norm:
      return {-18, 0};
    case TensorRole::head_norm:
      return {-18, 0.5f};
    case TensorRole::gdn_norm:
      return {-18, 1};
    case TensorRole::projection:
      return {fan_in_exponent(columns), 0};
    case TensorRole::beta:
      return {fan_in_exponent(columns) + 1, 0};
    case TensorRole::to_residual:
      return {fan_in_exponent(columns) - 2, 0};
    case TensorRole::conv:
      return {-16, 0};
    case TensorRole::a_log:
    case TensorRole::dt_bias:
      break;
  }
  return {};
}

// Uniform on a grid of 2^-20, finer than bf16 resolves: first, in units of the grid, and the number of steps.
struct Range {
  std::int64_t first = 0;
  std::int64_t steps = 0;
};
constexpr int kGridBits = 20;
constexpr std::int64_t kOne = 1 << kGridBits;
constexpr Range kALog = {-4 * kOne, 68 * kOne / 10};  // [-4, 2.8)
constexpr Range kDtBias = {-6 * kOne, 7 * kOne};      // [-6, 1)

// Integers throughout and below 2^24 in magnitude, hence exact as float32 and alike on every host.
std::vector<float> uniform_values(std::uint64_t key, Range range, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto high = static_cast<std::int64_t>(random_bits(key, static_cast<std::uint64_t>(i)) >> 32);
    const std::int64_t on_grid = range.first + (high * range.steps >> 32);
    values.push_back(std::ldexp(static_cast<float>(on_grid), -kGridBits));
  }
  return values;
}

// A matrix whose rows follow each other without padding is filled as one row: an element's index is the same,
// and the convolution's taps, of row stride 4, could not be passed otherwise.
void fill(Context& context, std::uint64_t key, Scale scale, bmk_matrix out) {
  if (out.row_stride == out.columns && out.row_stride % 8 != 0)
    out = matrix(out.data, 1, out.rows * out.columns, out.dtype);
  context.op("synthetic_fill", context.table().ops->synthetic_fill,
             bmk_synthetic_fill_args{.struct_size = sizeof(bmk_synthetic_fill_args),
                                     .key = key,
                                     .exponent = scale.exponent,
                                     .mean = scale.mean,
                                     .out = out});
}

}  // namespace

Weights make_synthetic_weights(std::shared_ptr<Context> context, const ModelConfig& config,
                               std::uint64_t seed) {
  Weights weights;
  weights.layers.resize(config.layers.size());
  Sha256 recipe;
  recipe.update(fmt::format("synthetic weights {}, seed {}\n", kRecipeVersion, seed));
  for (const auto& stack : tensor_stacks(config)) {
    const auto dtype = synthetic_dtype(stack);
    auto& buffer = weights.buffers.emplace_back(context, stack.bytes(dtype));
    if (stack.has_padding()) context->fill(buffer.data(), 0, buffer.bytes());
    const auto whole = stack.matrix_at(buffer.data(), dtype);
    for (const auto& part : stack.parts) {
      const auto key = random_key(seed, part.name);
      const auto scale = scale_of(part.role, stack.columns);
      recipe.update(fmt::format("{} {} [{}] {} {}\n", part.name, name_of(dtype), fmt::join(part.shape, ", "),
                                scale.exponent, scale.mean));
      if (part.role == TensorRole::a_log || part.role == TensorRole::dt_bias) {
        const auto values =
            uniform_values(key, part.role == TensorRole::a_log ? kALog : kDtBias, stack.columns);
        context->copy_to_device(buffer.data(), values.data(),
                                static_cast<std::int64_t>(values.size() * sizeof(float)));
        context->synchronize();
      } else {
        fill(*context, key, scale, rows_of(whole, part.first_row, part.rows));
      }
    }
    stack.slot(weights) = whole;
  }
  context->synchronize();
  weights.digest = recipe.hex();
  return weights;
}

}  // namespace branchmark
