// Which algorithm serves which number of rows: a list of bounds, each with the algorithm that was fastest
// there.
//
// All algorithms of a table give the same bits, so that it may be built by timing: it chooses speed only.
// Host-only, no CUDA header. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace branchmark::cuda {

// Bounds that every table has, ascending. M rows take the entry of the smallest bound that is not below M,
// the last one past the end.
std::span<const std::int64_t> standard_row_bounds();

struct RowEntry {
  std::int64_t rows = 0;       // the bound
  std::int64_t algorithm = 0;  // index in the shape's list

  bool operator==(const RowEntry&) const = default;
};

using RowTable = std::vector<RowEntry>;  // ascending by rows, no two alike

// The entry that serves `rows`, NULL in an empty table.
const RowEntry* find_entry(const RowTable& table, std::int64_t rows);

// Inserts the entry at its place, or replaces the one of the same bound.
void insert_entry(RowTable& table, RowEntry entry);

// The bounds that a table lacks, ascending: the standard ones up to `max_rows`, and of the distinct values of
// `wanted` in [1, max_rows] the first ones, until the table would hold `max_extra` that are not standard. A
// row count that a plan really uses is thus timed itself.
std::vector<std::int64_t> missing_bounds(const RowTable& table, std::span<const std::int64_t> wanted,
                                         std::int64_t max_rows, std::int64_t max_extra);

// Median; the mean of the middle two where their number is even. `times` is not empty.
double median(std::vector<double> times);

// One contestant's measured times at one bound.
struct Timing {
  std::int64_t algorithm = 0;
  std::vector<double> times_ms;
};

// The algorithm of the smallest median. Medians within kTieTolerance of the smallest count as equal, and the
// lowest index wins, so that noise does not move the choice back and forth. `timings` is not empty.
inline constexpr double kTieTolerance = 0.005;
std::int64_t fastest(std::span<const Timing> timings);

// Indices into `timings` of those whose median is at most (1 + margin) times the smallest, the fastest first,
// at most `limit` of them.
std::vector<std::size_t> front_runners(std::span<const Timing> timings, double margin, std::size_t limit);

}  // namespace branchmark::cuda
