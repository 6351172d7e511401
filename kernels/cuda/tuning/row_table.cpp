#include "row_table.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace branchmark::cuda {
namespace {

constexpr std::array<std::int64_t, 21> kStandardBounds = {
    1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192};

RowTable::const_iterator entry_at_least(const RowTable& table, std::int64_t rows) {
  return std::lower_bound(table.begin(), table.end(), rows,
                          [](const RowEntry& entry, std::int64_t value) { return entry.rows < value; });
}

bool has_bound(const RowTable& table, std::int64_t rows) {
  const auto found = entry_at_least(table, rows);
  return found != table.end() && found->rows == rows;
}

bool is_standard(std::int64_t rows) {
  return std::binary_search(kStandardBounds.begin(), kStandardBounds.end(), rows);
}

}  // namespace

std::span<const std::int64_t> standard_row_bounds() {
  return kStandardBounds;
}

const RowEntry* find_entry(const RowTable& table, std::int64_t rows) {
  if (table.empty()) return nullptr;
  const auto found = entry_at_least(table, rows);
  return found == table.end() ? &table.back() : &*found;
}

void insert_entry(RowTable& table, RowEntry entry) {
  const auto place = table.begin() + (entry_at_least(table, entry.rows) - table.begin());
  if (place != table.end() && place->rows == entry.rows)
    *place = entry;
  else
    table.insert(place, entry);
}

std::vector<std::int64_t> missing_bounds(const RowTable& table, std::span<const std::int64_t> wanted,
                                         std::int64_t max_rows, std::int64_t max_extra) {
  std::vector<std::int64_t> bounds;
  for (const std::int64_t bound : kStandardBounds)
    if (bound <= max_rows && !has_bound(table, bound)) bounds.push_back(bound);

  std::int64_t num_extra = std::count_if(table.begin(), table.end(),
                                         [](const RowEntry& entry) { return !is_standard(entry.rows); });
  for (const std::int64_t rows : wanted) {
    if (num_extra >= max_extra) break;
    const bool known = is_standard(rows) || has_bound(table, rows) ||
                       std::find(bounds.begin(), bounds.end(), rows) != bounds.end();
    if (rows < 1 || rows > max_rows || known) continue;
    bounds.push_back(rows);
    ++num_extra;
  }
  std::sort(bounds.begin(), bounds.end());
  return bounds;
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  if (times.size() % 2 == 1) return *middle;
  return (*std::max_element(times.begin(), middle) + *middle) / 2.0;
}

std::int64_t fastest(std::span<const Timing> timings) {
  std::vector<double> medians;
  for (const Timing& timing : timings) medians.push_back(median(timing.times_ms));
  const double limit = *std::min_element(medians.begin(), medians.end()) * (1.0 + kTieTolerance);
  const Timing* best = nullptr;
  for (std::size_t i = 0; i < timings.size(); ++i)
    if (medians[i] <= limit && (best == nullptr || timings[i].algorithm < best->algorithm))
      best = &timings[i];
  return best->algorithm;
}

std::vector<std::size_t> front_runners(std::span<const Timing> timings, double margin, std::size_t limit) {
  std::vector<double> medians;
  for (const Timing& timing : timings) medians.push_back(median(timing.times_ms));
  std::vector<std::size_t> order(timings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return medians[a] < medians[b]; });
  const auto far = std::find_if(order.begin(), order.end(), [&](std::size_t i) {
    return medians[i] > medians[order.front()] * (1.0 + margin);
  });
  order.erase(far, order.end());
  if (order.size() > limit) order.resize(limit);
  return order;
}

}  // namespace branchmark::cuda
