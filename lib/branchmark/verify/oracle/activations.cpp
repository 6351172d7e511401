#include "branchmark/verify/oracle/activations.hpp"

#include <cmath>

namespace branchmark::oracle {
namespace {

double softplus(double x) {
  return x > 20.0 ? x : std::log1p(std::exp(x));
}

}  // namespace

Expected silu_mul(const HostMatrix& gate, const HostMatrix& up) {
  Expected out(gate.rows, gate.columns);
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const auto activated = rounded(silu(exactly(gate.values[i])), gate.dtype);
    out.values[i] = rounded(in_float32(activated * exactly(up.values[i]), kFewSteps), gate.dtype);
  }
  return out;
}

Expected gdn_beta(const HostMatrix& b) {
  Expected out(b.rows, b.columns);
  for (std::size_t i = 0; i < out.values.size(); ++i)
    out.values[i] = rounded(sigmoid(exactly(b.values[i])), b.dtype);
  return out;
}

Expected gdn_decay(const HostMatrix& a, const HostMatrix& a_log, const HostMatrix& dt_bias) {
  Expected out(a.rows, a.columns);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t head = 0; head < a.columns; ++head) {
      const double x = double{a.at(row, head)} + double{dt_bias.at(0, head)};
      const double margin = 0x1p-23 * (std::abs(x) + std::abs(dt_bias.at(0, head)));
      const double rate = std::exp(double{a_log.at(0, head)});
      const Range decay{-rate * softplus(x + margin), -rate * softplus(x), -rate * softplus(x - margin)};
      out.at(row, head) = in_float32(decay, kFewSteps);
    }
  }
  return out;
}

}  // namespace branchmark::oracle
