// The name of a GEMM algorithm of the vendor's library: its settings as text.
//
// Host-only, no CUDA header. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace branchmark::cuda {

// Every setting that the library lets one read. Numbers mean what cublasLt.h says of the attribute of that
// name.
struct AlgorithmSettings {
  std::int32_t id = 0;
  std::uint32_t tile = 0;
  std::uint32_t stages = 0;
  std::int32_t split_k = 1;
  std::uint32_t reduction = 0;
  std::uint32_t swizzle = 0;
  std::uint32_t custom = 0;
  std::uint16_t inner_shape = 0;
  std::uint16_t cluster_shape = 0;

  bool operator==(const AlgorithmSettings&) const = default;
};

// One order of accumulation, whatever the grid: K is in one piece and nothing is reduced afterwards. The
// library knows 0 and 1 for one piece; -1, a count of its own choice, is no promise.
constexpr bool is_unsplit(const AlgorithmSettings& settings) {
  return (settings.split_k == 0 || settings.split_k == 1) && settings.reduction == 0;
}

// "id=66 tile=20 stages=36 split=1 reduction=0 swizzle=0 custom=0 inner=0 cluster=5", equal exactly where the
// settings are. At most 150 characters.
std::string fingerprint(const AlgorithmSettings& settings);

}  // namespace branchmark::cuda
