#include "few_rows.hpp"

#include <array>

namespace branchmark::cuda {
namespace {

constexpr int kWgmmaTileRows = 64;  // what the instruction has
constexpr int kCopiedColumns = 8;   // in 16 bytes, which the family kMma copies at a time

// Blocks that a multiprocessor holds, by their shared memory.
constexpr std::int64_t kWgmmaBlocks = 1;
constexpr std::int64_t kMmaBlocks = 2;
// Rounds of blocks past which a kernel of the family kMma is of no use.
constexpr std::int64_t kMmaMaxWaves = 3;

constexpr std::array<int, 11> kWgmmaColumns = {8, 16, 24, 32, 40, 48, 64, 80, 96, 144, 192};
constexpr std::array<int, 3> kWgmmaClusters = {1, 2, 8};

// A stream of w for each multiprocessor and no second round of blocks: the narrowest tiles that come to one
// round, and the next, which read x less often; for more rows than one tile has, also the narrowest of which
// two rows of tiles come to one round.
std::vector<FewRowsSettings> wgmma_settings(const FewRowsPlace& place) {
  std::vector<FewRowsSettings> list;
  const auto waves_fit = [&](int tile_columns, std::int64_t tiles_down) {
    return (place.columns + tile_columns - 1) / tile_columns * tiles_down <=
           kWgmmaBlocks * place.num_multiprocessors;
  };
  int widths = 0;
  bool has_double = false;
  for (const int tile_columns : kWgmmaColumns) {
    if (!waves_fit(tile_columns, 1)) continue;
    const bool is_narrow = ++widths <= 2;
    const bool is_double = !has_double && waves_fit(tile_columns, 2);
    has_double = has_double || is_double;
    if (!is_narrow && !is_double) continue;
    for (const int cluster_blocks : kWgmmaClusters)
      list.push_back({FewRowsFamily::kWgmma, kWgmmaTileRows, tile_columns, cluster_blocks});
  }
  return list;
}

std::vector<FewRowsSettings> mma_settings(const FewRowsPlace& place) {
  std::vector<FewRowsSettings> list;
  for (const int tile_rows : {8, 32, 64})
    for (const int tile_columns : {16, 32})
      if (place.columns <= kMmaMaxWaves * kMmaBlocks * place.num_multiprocessors * tile_columns)
        list.push_back({FewRowsFamily::kMma, tile_rows, tile_columns, 1});
  return list;
}

}  // namespace

std::vector<FewRowsSettings> few_rows_settings(const FewRowsPlace& place) {
  std::vector<FewRowsSettings> list;
  if (place.has_wgmma) list = wgmma_settings(place);
  // Slower wherever both run.
  return list.empty() ? mma_settings(place) : list;
}

bool serves(const FewRowsSettings& settings, std::int64_t inner, std::int64_t rows) {
  if (settings.family == FewRowsFamily::kWgmma) return rows <= kFewRowsMax;
  return rows <= settings.tile_rows && inner % kCopiedColumns == 0;
}

std::string fingerprint(const FewRowsSettings& settings) {
  const char* family = settings.family == FewRowsFamily::kWgmma ? "wgmma" : "mma";
  return std::string("branchmark few_rows ") + family + " tile=" + std::to_string(settings.tile_rows) + "x" +
         std::to_string(settings.tile_columns) + " cluster=" + std::to_string(settings.cluster_blocks) +
         " stages=" +
         std::to_string(few_rows_stages(settings.family, settings.tile_rows, settings.tile_columns));
}

}  // namespace branchmark::cuda
