// The samples of one quantity on one side of a comparison, run by run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace branchmark {

// Each run has at least one sample; samples are finite and above 0.
class Samples {
 public:
  // Runs and samples in any order: they are sorted, so that their order decides nothing.
  explicit Samples(std::vector<std::vector<double>> runs);

  // Each ascending.
  const std::vector<std::vector<double>>& runs() const noexcept { return runs_; }
  std::size_t num_samples() const;
  // The median over the runs' medians.
  double median() const;
  // The natural logarithms of the runs' medians.
  std::vector<double> log_medians() const;

  // Natural logarithms of the medians of `count` resamplings (the bootstrap of Efron, 1979): of the runs,
  // then of each drawn run's samples, with replacement. What is drawn depends on the samples alone, so that
  // the sides of a comparison may change places, and equal samples are resampled alike.
  std::vector<double> resampled_log_medians(std::size_t count) const;

  bool operator==(const Samples&) const = default;

 private:
  std::uint64_t digest() const;
  std::vector<std::vector<double>> runs_;
};

}  // namespace branchmark
