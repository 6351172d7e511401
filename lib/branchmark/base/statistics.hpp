// Order statistics of samples. Nothing here supposes a distribution: times have tails, and two modes where a
// clock steps.
#pragma once

#include <optional>
#include <span>

namespace branchmark {

// The q-quantile, 0 <= q <= 1, by linear interpolation between order statistics (type 7 of Hyndman and Fan,
// 1996). `sorted` is ascending, finite and not empty.
double quantile(std::span<const double> sorted, double q);

// The median of samples in any order; not empty.
double median(std::span<const double> samples);

struct Interval {
  double low = 0;
  double high = 0;
};

// The narrowest pair of order statistics, equally far from both ends, that holds the median with probability
// of at least 95% whatever the distribution: the number of samples below the median is binomial(n, 1/2).
// `sorted` is ascending and finite. Empty for fewer than 6 samples, where no pair is that sure.
std::optional<Interval> median_interval(std::span<const double> sorted);

// Half the interval's width as a share of the median; empty where there is no interval or the median is 0.
std::optional<double> relative_half_width(std::span<const double> sorted);

// The median slope of all pairs of samples, a step (Theil 1950, Sen 1968): one outlier does not tilt it. At
// least two samples, in the order in which they were taken.
double median_slope(std::span<const double> samples);

}  // namespace branchmark
