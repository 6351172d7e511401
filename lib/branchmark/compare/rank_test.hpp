// The test of Wilcoxon (1945), Mann and Whitney (1947): do two sets of samples come from one distribution? It
// looks at ranks alone, so neither tails nor a second mode of the times mislead it.
#pragma once

#include <optional>
#include <span>

namespace branchmark {

// A difference as rare as this among samples of one distribution counts as one.
inline constexpr double kSignificance = 0.05;

// The two-sided probability, among samples of one distribution, of ranks at least this far apart. Up to 30
// samples in all it is exact, ties included: every way of dealing the ranks to the two sides is counted (the
// shift algorithm of Streitberg and Roehmel, 1986). Beyond, it is normal with corrections for ties and
// continuity. Exchanging the sides changes no bit of it.
//
// Empty where even ranks that do not mix at all have a probability above kSignificance, as for three on each
// side. The samples are finite, in any order.
std::optional<double> rank_test(std::span<const double> a, std::span<const double> b);

}  // namespace branchmark
