// The mathematics of a pass: every op of every layer, queued in order on one stream. Rounding points are the
// ops' own (kernels/README.md); this file fixes only what feeds what.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "branchmark/device/gemm.hpp"
#include "branchmark/model/adapter.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/model/observer.hpp"
#include "branchmark/model/pass_inputs.hpp"
#include "branchmark/model/profile.hpp"
#include "branchmark/model/rotary_table.hpp"
#include "branchmark/model/scratch.hpp"
#include "branchmark/model/weights.hpp"

namespace branchmark {

// An adapter's matrices on the device, by layer.
struct DeviceDelta {
  Projection projection{};
  float scale = 0;
  bmk_matrix a{};  // [rank, in] f32
  bmk_matrix b{};  // [out, rank] f32
};
struct DeviceAdapter {
  std::vector<std::vector<DeviceDelta>> layers;
  std::vector<DeviceBuffer> buffers;
};
DeviceAdapter upload(std::shared_ptr<Context> context, const Adapter& adapter, const ModelConfig& config);

// What a pass is run with; everything outlives the call.
struct LayerStack {
  Context& context;
  const ModelConfig& config;
  const Profile& profile;
  const Weights& weights;
  const DeviceAdapter* adapter;  // null: merged
  const RotaryTable& rotary;
  const Scratch& scratch;
};

// Bytes of workspace that the ops of a pass ask for.
std::int64_t workspace_bytes(Context& context, const ModelConfig& config, const Profile& profile,
                             const DeviceAdapter* adapter, const PassInputs& inputs);

// Queues the pass. The result rows, [num_results, hidden] after the final norm, lie in the scratch's
// `results`. States named by the inputs are written, and each layer marked on them. `observer` may be null.
void queue_pass(const LayerStack& stack, Gemm& gemm, const PassInputs& inputs, PassObserver* observer);

}  // namespace branchmark
