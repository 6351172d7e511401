#include "branchmark/verify/oracle/conv.hpp"

#include <cmath>

namespace branchmark::oracle {

Expected conv(const HostMatrix& x, const HostMatrix& weight, const HostMatrix& history) {
  Expected out(x.rows, x.columns);
  for (std::int64_t row = 0; row < x.rows; ++row) {
    for (std::int64_t channel = 0; channel < x.columns; ++channel) {
      double sum = 0;
      double size = 0;
      for (std::int64_t tap = 0; tap < BMK_CONV_TAPS; ++tap) {
        const std::int64_t from = row - BMK_CONV_HISTORY + tap;
        const double input = from < 0 ? history.at(from + BMK_CONV_HISTORY, channel) : x.at(from, channel);
        sum += weight.at(channel, tap) * input;
        size += std::abs(weight.at(channel, tap) * input);
      }
      const auto convolved = rounded(widened(exactly(sum), size * 0x1p-21), x.dtype);
      out.at(row, channel) = rounded(silu(convolved), x.dtype);
    }
  }
  return out;
}

}  // namespace branchmark::oracle
