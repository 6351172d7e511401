// What one packed pass reads besides weights and activations: token ids, positions, sequence offsets, and the
// tables of pointers to parents' states. All of it lies in one block that is uploaded in one copy before the
// ops are queued, at offsets that depend on lengths only; so a recorded graph finds new inputs where the old
// ones lay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "branchmark/model/observer.hpp"
#include "branchmark/model/prefix_state.hpp"
#include "branchmark/model/scratch.hpp"

namespace branchmark {

// One run as a sequence of a pass.
struct SequenceInput {
  std::int64_t run = 0;  // index in the call, for observers
  const Prompt* tokens = nullptr;
  std::int64_t first = 0;  // absolute position of its first row, a multiple of 64
  std::shared_ptr<const PrefixState> parent = nullptr;  // null where first is 0
  std::shared_ptr<PrefixState> capture = nullptr;       // null: nothing is captured
  bool wants_result = false;                            // its last row is a prompt's result
};

// Device pointers into the uploaded block.
struct GdnLayerPointers {
  const void* const* history_in;
  void* const* history_out;
  const float* const* state_in;
  float* const* state_out;
};
struct AttentionLayerPointers {
  void* const* key_out;
  void* const* value_out;
  const void* const* segment_keys;
  const void* const* segment_values;
};

class PassInputs {
 public:
  PassInputs(const ModelConfig& config, std::vector<SequenceInput> sequences, bool all_rows);

  std::int64_t num_rows() const { return num_rows_; }
  std::int64_t num_results() const { return static_cast<std::int64_t>(result_rows_.size()); }
  std::int64_t max_positions() const { return max_positions_; }        // keys of the sequence that sees most
  std::int64_t rotary_positions() const { return rotary_positions_; }  // largest rotary position + 1
  const std::vector<RunRows>& run_rows() const { return run_rows_; }
  const std::vector<SequenceInput>& inputs() const { return inputs_; }
  // Sizes only; for workspace queries before anything is uploaded.
  bmk_sequences sizes() const;

  // Builds the block for these scratch addresses and queues its copy into `block`, which grows as needed
  // (returns whether it moved). The host copy lives as long as this object.
  bool upload(const std::shared_ptr<Context>& context, DeviceBuffer& block, const ScratchViews& scratch);

  // Valid after upload.
  const bmk_sequences& sequences() const { return sequences_; }
  const std::int32_t* ids() const { return ids_; }
  const std::int32_t* positions() const { return positions_; }
  const std::int64_t* capture_rows() const {
    return capture_rows_;
  }  // own rows after which state is captured
  const std::int64_t* result_indices() const { return result_indices_; }
  const GdnLayerPointers& gdn_layer(std::int64_t index) const {
    return gdn_[static_cast<std::size_t>(index)];
  }
  const AttentionLayerPointers& attention_layer(std::int64_t index) const {
    return attention_[static_cast<std::size_t>(index)];
  }
  std::int64_t num_segments() const { return num_segments_; }
  const std::int64_t* segment_offsets() const { return segment_offsets_; }
  const std::int64_t* segment_first_position() const { return segment_first_position_; }
  const std::int64_t* segment_length() const { return segment_length_; }

 private:
  class BlockBuilder;
  void lay_out(const void* device, const ScratchViews& scratch);
  void lay_out_rows(BlockBuilder& block);

  std::int64_t num_gdn_layers_;
  std::int64_t num_attention_layers_;
  std::int64_t kv_width_;
  std::vector<SequenceInput> inputs_;
  std::vector<RunRows> run_rows_;
  std::vector<std::int64_t> row_offsets_, first_position_, chunk_offsets_, result_rows_;
  std::int64_t num_rows_ = 0;
  std::int64_t max_rows_ = 0;
  std::int64_t max_positions_ = 0;
  std::int64_t rotary_positions_ = 0;
  std::int64_t num_segments_ = 0;

  std::vector<std::byte> host_;
  bmk_sequences sequences_{};
  const std::int32_t* ids_ = nullptr;
  const std::int32_t* positions_ = nullptr;
  const std::int64_t* capture_rows_ = nullptr;
  const std::int64_t* result_indices_ = nullptr;
  const std::int64_t* segment_offsets_ = nullptr;
  const std::int64_t* segment_first_position_ = nullptr;
  const std::int64_t* segment_length_ = nullptr;
  std::vector<GdnLayerPointers> gdn_;
  std::vector<AttentionLayerPointers> attention_;
};

}  // namespace branchmark
