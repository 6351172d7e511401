#include "gemm/class_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace branchmark::cpu {
namespace {

constexpr int64_t kProofRows = 47;
constexpr int64_t kProofColumns = 251;
constexpr uint64_t kProofSeeds[] = {1, 2, 3};

constexpr int64_t kTimedDepth = 1024;
constexpr int64_t kTimedColumns = 2048;
constexpr int64_t kTimedProducts = int64_t{1} << 27;  // multiplications of one timed run at most
constexpr int64_t kFewestTimedColumns = 256;
constexpr int kTimedRepeats = 2;
constexpr double kTie = 1.03;

class Fnv1a {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) state_ = (state_ ^ from[i]) * 0x100000001B3u;
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0xCBF29CE484222325u;
};

}  // namespace

int row_bucket(int64_t rows) {
  const int bucket = static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(rows, 1)))) - 1;
  return std::min(bucket, kNumRowBuckets - 1);
}

ClassTable prove_class(const GemmRunner& runner, const bmk_gemm_shape& shape) {
  ClassTable table;
  table.in_class.fill(true);
  Fnv1a digest;
  for (const uint64_t seed : kProofSeeds) {
    GemmProblem problem(runner, shape, kProofRows, std::min(shape.n, kProofColumns), shape.k, seed);
    const std::vector<unsigned char> fixed = problem.run(kGemmAlgorithms[kGemmFixed]);
    digest.add(fixed.data(), fixed.size());
    for (int64_t i = 0; i < kNumGemmAlgorithms; ++i) {
      const auto index = static_cast<std::size_t>(i);
      table.in_class[index] = table.in_class[index] && problem.run(kGemmAlgorithms[i]) == fixed;
    }
  }
  for (int64_t i = 0; i < kNumGemmAlgorithms; ++i) {
    const char* fingerprint = kGemmAlgorithms[i].fingerprint;
    if (table.in_class[static_cast<std::size_t>(i)]) digest.add(fingerprint, strlen(fingerprint) + 1);
  }
  table.digest = digest.value();
  table.fastest.fill(kGemmFixed);
  return table;
}

void time_class(const GemmRunner& runner, const bmk_gemm_shape& shape, ClassTable& table) {
  const int64_t depth = std::min(shape.k, kTimedDepth);
  for (int bucket = 0; bucket < kNumRowBuckets; ++bucket) {
    const int64_t rows = int64_t{1} << bucket;
    const int64_t affordable = std::max(kTimedProducts / (rows * depth), kFewestTimedColumns);
    GemmProblem problem(runner, shape, rows, std::min({shape.n, kTimedColumns, affordable}), depth, 1);
    std::array<double, kNumGemmAlgorithms> seconds{};
    double best = 0.0;
    for (int64_t i = 0; i < kNumGemmAlgorithms; ++i) {
      const auto index = static_cast<std::size_t>(i);
      if (!table.in_class[index]) continue;
      seconds[index] = problem.seconds(kGemmAlgorithms[i], kTimedRepeats);
      if (best == 0.0 || seconds[index] < best) best = seconds[index];
    }
    int64_t fastest = 0;
    const auto competitive = [&](std::size_t index) {
      return table.in_class[index] && seconds[index] <= best * kTie;
    };
    while (!competitive(static_cast<std::size_t>(fastest))) ++fastest;
    table.fastest[static_cast<std::size_t>(bucket)] = fastest;
  }
}

}  // namespace branchmark::cpu
