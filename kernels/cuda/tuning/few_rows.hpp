// The module's own GEMM kernels for few rows, as settings: which there are, their names, and what they serve.
//
// With few rows a product is bound by reading w, which takes all multiprocessors; but the vendor's smallest
// tiles, 64 rows of w each, are too few for them unless K is split, which changes the order of accumulation.
// These kernels have smaller tiles and longer pipelines instead, and never split K.
//
// Host-only, no CUDA header. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace branchmark::cuda {

enum class FewRowsFamily {
  kWgmma,  // asynchronous products of a warp group, operands by the tensor copy engine; sm_90a
  kMma,    // a warp's own products, operands by cp.async; sm_80 and later
};

struct FewRowsSettings {
  FewRowsFamily family = FewRowsFamily::kMma;
  int tile_rows = 0;       // of x, that a block multiplies
  int tile_columns = 0;    // of y, rows of w
  int cluster_blocks = 1;  // neighbours that share their reads of x

  bool operator==(const FewRowsSettings&) const = default;
};

// Columns of K that one stage of a pipeline holds.
inline constexpr int kFewRowsStageInner = 128;
// Rows past which no kernel here is of use: reading w no longer takes most of the time.
inline constexpr std::int64_t kFewRowsMax = 128;
inline constexpr int kBf16Bytes = 2;

constexpr int few_rows_stage_bytes(int tile_rows, int tile_columns) {
  return (tile_rows + tile_columns) * kFewRowsStageInner * kBf16Bytes;
}

// As many stages as shared memory holds: all that a block may have on sm_90, less the barriers and the
// alignment of the first tile; or what the smallest device from sm_80 on gives a block, less what more than
// kMaxMmaStages would not speed up.
constexpr int few_rows_stages(FewRowsFamily family, int tile_rows, int tile_columns) {
  constexpr int kWgmmaBytes = 225 * 1024;
  constexpr int kMmaBytes = 96 * 1024;
  constexpr int kMaxMmaStages = 12;
  const int stage_bytes = few_rows_stage_bytes(tile_rows, tile_columns);
  if (family == FewRowsFamily::kWgmma) return kWgmmaBytes / stage_bytes;
  const int stages = kMmaBytes / stage_bytes;
  return stages < kMaxMmaStages ? stages : kMaxMmaStages;
}

// What a choice of kernels depends on.
struct FewRowsPlace {
  bool has_wgmma = false;  // on the device and in the build
  std::int64_t num_multiprocessors = 0;
  std::int64_t columns = 0;  // of y
};

// The kernels for a place, in a fixed order: those of the fastest family that it can run whose tiles are
// neither too few nor too many for the device. None where y has too many columns.
std::vector<FewRowsSettings> few_rows_settings(const FewRowsPlace& place);

// Whether the kernel multiplies `rows` rows of `inner` columns. Strides are multiples of eight for all.
bool serves(const FewRowsSettings& settings, std::int64_t inner, std::int64_t rows);

// "branchmark few_rows wgmma tile=64x24 cluster=4 stages=10", equal exactly where the settings are.
std::string fingerprint(const FewRowsSettings& settings);

}  // namespace branchmark::cuda
