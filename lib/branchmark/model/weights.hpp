// Weights of a model in device memory, stacked so that each projection group is one GEMM.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/model/config.hpp"

namespace branchmark {

class Checkpoint;

// Matrices are views into `Weights::buffers`; layouts are ModelConfig's. Types are as stored (bf16 or f32);
// where parts of one stack differ, all are widened to f32, which changes no value. One-row matrices are
// vectors.
struct LayerWeights {
  bmk_matrix input_norm{};    // [1, hidden]
  bmk_matrix post_norm{};     // [1, hidden]
  bmk_matrix mixer_input{};   // [gdn_input_width | attention_input_width, hidden]
  bmk_matrix mixer_output{};  // [hidden, value_width | query_width]
  bmk_matrix gate_up{};       // [gate_up_width, hidden]
  bmk_matrix down{};          // [hidden, ffn]
  // GDN layers
  bmk_matrix conv{};      // [conv_channels, 4]; row stride 4
  bmk_matrix a_log{};     // [1, value_heads]
  bmk_matrix dt_bias{};   // [1, value_heads]
  bmk_matrix gdn_norm{};  // [1, 128]
  // attention layers
  bmk_matrix query_norm{};  // [1, 256]
  bmk_matrix key_norm{};    // [1, 256]
};

struct Weights {
  bmk_matrix embedding{};   // [vocabulary, hidden]
  bmk_matrix final_norm{};  // [1, hidden]
  std::vector<LayerWeights> layers;
  // sha256 over, for each tensor read, its name, dtype, shape and a sum of its bytes taken while loading, and
  // each file's name, size and header; for synthetic weights, over the recipe.
  std::string digest;
  std::vector<DeviceBuffer> buffers;
};

// Bytes of device memory that the weights of `config` take, all in bf16 apart from A_log, dt_bias and the GDN
// norm (f32): exact for synthetic weights, and for checkpoints stored so.
std::int64_t weights_bytes(const ModelConfig& config);

// Reads every tensor that the layers of `config` need; tensors of further layers are ignored. Throws usage,
// naming tensor, found and expected, before the device is touched. Synchronises.
Weights load_weights(std::shared_ptr<Context> context, const ModelConfig& config,
                     const Checkpoint& checkpoint);

// Weights from a counter-based generator of (seed, tensor name, index): the same bits on every device. Scaled
// so that activations stay of order one through all layers, with decays and gates spread over their real
// range (see synthetic_weights.cpp). Synchronises.
Weights make_synthetic_weights(std::shared_ptr<Context> context, const ModelConfig& config,
                               std::uint64_t seed);

}  // namespace branchmark
