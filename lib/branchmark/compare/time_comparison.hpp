// Faster, slower, the same, or not to be told from these samples.
//
// The two questions of a comparison are asked apart. Is there a difference? A test answers, corrected over
// all tests of the comparison, and the interval of the ratio must not hold 1. Is it large enough to count?
// The ratio of the medians must lie outside the band [1/(1 + e), 1 + e]. Both: `slower` or `faster`. `same`
// is proven too: the whole interval lies inside the band. All else is `inconclusive`, never a silent pass.
// Where an op takes a few microseconds, e is no less than kLeastDifferenceNs of its time.
//
// One run a side: the interval is the percentile bootstrap's over samples, the test that of Mann and Whitney.
// Shifts between runs are not in such samples; that is what the noise floor is for. Several runs: the runs
// are resampled first (Kalibera and Jones, 2013), the test is Student's on the logarithms of the runs'
// medians, with their spread taken from all sides that have several, and the interval is no narrower than
// Student's: a bootstrap of a handful of runs is too sure of itself (Hesterberg, 2015).
#pragma once

#include <string>
#include <vector>

#include "branchmark/compare/comparison.hpp"

namespace branchmark {

// What no two runs of identical code agree on: where operands lie in memory has moved an op of 3 us by 0.07
// us on an H200, in all samples of a run alike.
inline constexpr double kLeastDifferenceNs = 100;

// Everything but the verdict and what explains it; the probability is that of this test alone. Samples are in
// nanoseconds; the least `effect` that counts is a ratio, 0.02 for 2%.
TimeComparison compare_times(std::string metric, Samples a, Samples b, double effect);

// Corrects the probabilities over all of these and gives the verdicts.
void decide_verdicts(const std::vector<TimeComparison*>& times);

}  // namespace branchmark
