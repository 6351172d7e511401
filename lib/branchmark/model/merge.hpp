// Merging a LoRA adapter into the weights. The merged model is an ordinary one: every entry point admits it.
#pragma once

#include "branchmark/device/context.hpp"
#include "branchmark/model/adapter.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/model/weights.hpp"

namespace branchmark {

// W ← W + scale · B A for every delta of the adapter. B A is summed in float32 in order of the rank, on the
// host, so that every module gets the same bits; the sum with W is rounded once, to the type that W's stack
// has on the device. The weights' digest becomes one of weights and adapter. Throws usage, naming layer,
// projection and row, where a merged weight is not finite; the weights are of no use then. Synchronises.
void merge(Context& context, const ModelConfig& config, const Adapter& adapter, Weights& weights);

}  // namespace branchmark
