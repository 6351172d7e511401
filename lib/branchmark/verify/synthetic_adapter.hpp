// A LoRA adapter made up of random values, for profiles that need one and have none.
#pragma once

#include <cstdint>

#include "branchmark/model/adapter.hpp"

namespace branchmark {

// Every projection of every layer, scale 1, values such that a delta is about a tenth of what it is added to.
Adapter make_synthetic_adapter(const ModelConfig& config, std::int64_t rank, std::uint64_t seed);

}  // namespace branchmark
