#include "fingerprint.hpp"

namespace branchmark::cuda {

std::string fingerprint(const AlgorithmSettings& settings) {
  const auto field = [](const char* name, auto value) {
    return std::string(name) + "=" + std::to_string(value);
  };
  return field("id", settings.id) + field(" tile", settings.tile) + field(" stages", settings.stages) +
         field(" split", settings.split_k) + field(" reduction", settings.reduction) +
         field(" swizzle", settings.swizzle) + field(" custom", settings.custom) +
         field(" inner", settings.inner_shape) + field(" cluster", settings.cluster_shape);
}

}  // namespace branchmark::cuda
