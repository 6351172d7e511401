#include "few_rows.hpp"

namespace branchmark::cuda {
namespace {

constexpr int kWgmmaTileRows = 64;  // what the instruction has
constexpr int kCopiedColumns = 8;   // in 16 bytes, which the family kMma copies at a time

// Blocks that a multiprocessor holds, by their shared memory.
constexpr std::int64_t kWgmmaBlocks = 1;
constexpr std::int64_t kMmaBlocks = 2;

std::vector<FewRowsSettings> all_settings(bool has_wgmma) {
  std::vector<FewRowsSettings> list;
  if (has_wgmma)
    for (const int tile_columns : {8, 16, 24, 32, 40, 64})
      for (const int cluster_blocks : {1, 2, 4})
        list.push_back({FewRowsFamily::kWgmma, kWgmmaTileRows, tile_columns, cluster_blocks});
  for (const int tile_rows : {8, 32, 64})
    for (const int tile_columns : {16, 32}) list.push_back({FewRowsFamily::kMma, tile_rows, tile_columns, 1});
  return list;
}

bool fits(const FewRowsSettings& settings, const FewRowsPlace& place) {
  const std::int64_t blocks = settings.family == FewRowsFamily::kWgmma ? kWgmmaBlocks : kMmaBlocks;
  return place.columns <= kFewRowsMaxWaves * blocks * place.num_multiprocessors * settings.tile_columns;
}

}  // namespace

std::vector<FewRowsSettings> few_rows_settings(const FewRowsPlace& place) {
  std::vector<FewRowsSettings> list = all_settings(place.has_wgmma);
  std::erase_if(list, [&](const FewRowsSettings& settings) { return !fits(settings, place); });
  return list;
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
