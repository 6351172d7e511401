// Watching a pass from outside: the output of each op, in order. Recording, bit comparison and the search for
// the first non-finite value are observers. A pass that is observed gives the same bits as one that is not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/device/context.hpp"

namespace branchmark {

// The rows of one run inside a packed pass.
struct RunRows {
  std::int64_t run = 0;        // index in the call: of the planned run, or of the prompt
  std::int64_t first_row = 0;  // in the pass
  std::int64_t num_rows = 0;
  std::int64_t first_position = 0;  // token that the first row stands for
};

class PassObserver {
 public:
  virtual ~PassObserver() = default;
  virtual void begin_pass(const std::vector<RunRows>& runs) = 0;
  // Whether `observe` is wanted. Layer −1 is the embedding, layer `num_layers` the final norm. Within a layer
  // the ops are, in order: layer_input, mixer_input, then conv, gdn_gates, gdn_prefill, gated_rms_norm, or
  // attention_prepare, gated_attention; then mixer_output, post_norm, gate_up, silu_mul, down.
  virtual bool wants(std::int64_t layer, std::string_view op) const = 0;
  // The op's output, [rows of the pass, columns]; queued, not yet done: read it through `context`.
  virtual void observe(Context& context, std::int64_t layer, std::string_view op, const bmk_matrix& out) = 0;
};

// Downloads a matrix as float32, row-major without padding; synchronises.
std::vector<float> download(Context& context, const bmk_matrix& matrix);

}  // namespace branchmark
