#include "branchmark/verify/oracle/gated_delta.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "branchmark/base/parallel.hpp"

namespace branchmark::oracle {
namespace {

constexpr std::int64_t kDim = BMK_GDN_HEAD_DIM;
constexpr std::int64_t kStateSize = kDim * kDim;
using Vector = std::array<double, kDim>;

// Columns [first, first + 128) of a row, over their norm.
Vector normalised(const HostMatrix& qkv, std::int64_t row, std::int64_t first) {
  Vector x{};
  double sum = 0;
  for (std::int64_t i = 0; i < kDim; ++i) {
    x[static_cast<std::size_t>(i)] = qkv.at(row, first + i);
    sum += x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(i)];
  }
  for (auto& value : x) value /= std::sqrt(sum + 1e-6);
  return x;
}

// One token: updates the state [128, 128] and writes the output of the head.
void step(double* state, double decay, double beta, const Vector& q, const Vector& k, const Vector& v,
          double* out) {
  Vector u = v;
  for (std::int64_t i = 0; i < kDim; ++i) {
    double* row = state + i * kDim;
    for (std::int64_t j = 0; j < kDim; ++j) {
      row[j] *= decay;
      u[static_cast<std::size_t>(j)] -= row[j] * k[static_cast<std::size_t>(i)];
    }
  }
  for (auto& value : u) value *= beta;
  std::fill_n(out, kDim, 0.0);
  for (std::int64_t i = 0; i < kDim; ++i) {
    double* row = state + i * kDim;
    for (std::int64_t j = 0; j < kDim; ++j) {
      row[j] += k[static_cast<std::size_t>(i)] * u[static_cast<std::size_t>(j)];
      out[j] += row[j] * q[static_cast<std::size_t>(i)];
    }
  }
}

}  // namespace

GatedDeltaOutputs gated_delta(const GatedDeltaInputs& in, std::int64_t state_at) {
  const std::int64_t rows = in.qkv->rows;
  const std::int64_t width = kDim * in.value_heads;
  GatedDeltaOutputs result;
  result.out.resize(static_cast<std::size_t>(rows * width));
  result.state.resize(static_cast<std::size_t>(in.value_heads * kStateSize));
  parallel_for(in.value_heads, [&](std::int64_t head) {
    const std::int64_t key_head = head * in.key_heads / in.value_heads;
    std::vector<double> state(kStateSize);
    if (!in.state_in.empty()) std::copy_n(in.state_in.begin() + head * kStateSize, kStateSize, state.begin());
    const auto capture = [&](std::int64_t after) {
      if (after == state_at) std::copy(state.begin(), state.end(), result.state.begin() + head * kStateSize);
    };
    capture(0);
    for (std::int64_t row = 0; row < rows; ++row) {
      auto q = normalised(*in.qkv, row, key_head * kDim);
      for (auto& value : q) value /= std::sqrt(double{kDim});
      const auto k = normalised(*in.qkv, row, (in.key_heads + key_head) * kDim);
      Vector v{};
      for (std::int64_t j = 0; j < kDim; ++j)
        v[static_cast<std::size_t>(j)] = in.qkv->at(row, (2 * in.key_heads + head) * kDim + j);
      step(state.data(), std::exp(double{in.g->at(row, head)}), in.beta->at(row, head), q, k, v,
           result.out.data() + row * width + head * kDim);
      capture(row + 1);
    }
  });
  return result;
}

}  // namespace branchmark::oracle
