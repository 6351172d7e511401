#include "branchmark/verify/synthetic_adapter.hpp"

#include <fmt/format.h>

#include <cmath>

#include "branchmark/base/random.hpp"

namespace branchmark {
namespace {

constexpr Projection kProjections[] = {Projection::in_proj_qkv, Projection::in_proj_z, Projection::in_proj_b,
                                       Projection::in_proj_a,   Projection::out_proj,  Projection::q_proj,
                                       Projection::k_proj,      Projection::v_proj,    Projection::o_proj,
                                       Projection::gate_proj,   Projection::up_proj,   Projection::down_proj};

std::vector<float> normal(std::uint64_t seed, const std::string& name, std::int64_t count, double scale) {
  Random random(seed, name);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = static_cast<float>(scale) * random.normal();
  return values;
}

}  // namespace

Adapter make_synthetic_adapter(const ModelConfig& config, std::int64_t rank, std::uint64_t seed) {
  Adapter adapter;
  adapter.digest = fmt::format("synthetic, rank {}, seed {}", rank, seed);
  for (std::int64_t layer = 0; layer < config.num_layers(); ++layer)
    for (const auto projection : kProjections) {
      if (!has_projection(config.layers[static_cast<std::size_t>(layer)], projection)) continue;
      const auto place = place_of(config, projection);
      const auto name = fmt::format("lora/{}/{}", layer, name_of(projection));
      adapter.deltas.push_back(
          {.layer = layer,
           .projection = projection,
           .rank = rank,
           .scale = 1.0f,
           .a = normal(seed, name + "/a", rank * place.inputs,
                       1.0 / std::sqrt(static_cast<double>(place.inputs))),
           .b = normal(seed, name + "/b", place.outputs * rank, 0.1 / std::sqrt(static_cast<double>(rank)))});
    }
  return adapter;
}

}  // namespace branchmark
