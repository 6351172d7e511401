// A PEFT LoRA adapter: y = base + scale · B(A x) on a subset of the projections, in float32.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/model/config.hpp"

namespace branchmark {

// The projections of a layer that an adapter may change.
enum class Projection {
  in_proj_qkv,
  in_proj_z,
  in_proj_b,
  in_proj_a,
  out_proj,
  q_proj,
  k_proj,
  v_proj,
  o_proj,
  gate_proj,
  up_proj,
  down_proj
};

std::string_view name_of(Projection projection);
// The projection of that name, if any.
std::optional<Projection> projection_named(std::string_view name);

// On the host, checked: every pair complete and of the right shape, rank 1..128, all values finite.
struct Adapter {
  struct Delta {
    std::int64_t layer = 0;
    Projection projection{};
    std::int64_t rank = 0;
    float scale = 0;       // alpha / rank, or alpha / sqrt(rank) with rslora
    std::vector<float> a;  // [rank, in]
    std::vector<float> b;  // [out, rank]
  };
  std::vector<Delta> deltas;  // in order of layer, then projection
  std::string digest;
};

// Reads `folder`/adapter_config.json and adapter_model.safetensors. Accepts the name prefixes
// "base_model.model." and "base_model.model.model.", each with or without "language_model.". Throws usage for
// a missing pair, a wrong shape, rank 0, an unknown target, a non-finite value, an overflowing scale, and for
// PEFT features that change the result and are not supported (DoRA, bias, ...). Touches no device.
Adapter read_adapter(const std::filesystem::path& folder, const ModelConfig& config);

// Output columns of a projection within its stack, and the widths of its input and output.
struct ProjectionPlace {
  std::int64_t first_column = 0;
  std::int64_t outputs = 0;
  std::int64_t inputs = 0;
};
ProjectionPlace place_of(const ModelConfig& config, Projection projection);
// Whether a layer of this kind has the projection.
bool has_projection(LayerKind kind, Projection projection);

}  // namespace branchmark
