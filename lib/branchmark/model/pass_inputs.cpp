#include "branchmark/model/pass_inputs.hpp"

#include <algorithm>
#include <cstring>

namespace branchmark {
namespace {

constexpr std::int64_t kChunk = BMK_CHUNK_TOKENS;

// Ancestors of a sequence from the prompt's start on.
std::vector<const PrefixState*> chain_of(const SequenceInput& input) {
  std::vector<const PrefixState*> chain;
  for (auto state = input.parent.get(); state != nullptr; state = state->parent().get())
    chain.push_back(state);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace

// Lays arrays one after another, each at a multiple of 256 bytes; gives their future device addresses, which
// are null where there is no block on the device yet.
class PassInputs::BlockBuilder {
 public:
  explicit BlockBuilder(std::vector<std::byte>& host, const void* device) : host_(host), device_(device) {}

  template <class T>
  const T* add(const std::vector<T>& values) {
    const auto begin = (host_.size() + 255) / 256 * 256;
    host_.resize(begin + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(host_.data() + begin, values.data(), values.size() * sizeof(T));
    if (device_ == nullptr) return nullptr;
    return reinterpret_cast<const T*>(static_cast<const char*>(device_) + begin);
  }

 private:
  std::vector<std::byte>& host_;
  const void* device_;
};

PassInputs::PassInputs(const ModelConfig& config, std::vector<SequenceInput> sequences, bool all_rows)
    : num_gdn_layers_(config.num_layers(LayerKind::gdn)),
      num_attention_layers_(config.num_layers(LayerKind::attention)),
      kv_width_(config.kv_width()),
      inputs_(std::move(sequences)) {
  row_offsets_.push_back(0);
  chunk_offsets_.push_back(0);
  for (const auto& input : inputs_) {
    const auto rows = static_cast<std::int64_t>(input.tokens->tokens.size());
    run_rows_.push_back({input.run, num_rows_, rows, input.first});
    if (all_rows)
      for (std::int64_t row = 0; row < rows; ++row) result_rows_.push_back(num_rows_ + row);
    else if (input.wants_result)
      result_rows_.push_back(num_rows_ + rows - 1);
    num_rows_ += rows;
    row_offsets_.push_back(num_rows_);
    first_position_.push_back(input.first);
    chunk_offsets_.push_back(chunk_offsets_.back() + (rows + kChunk - 1) / kChunk);
    max_rows_ = std::max(max_rows_, rows);
    max_positions_ = std::max(max_positions_, input.first + rows);
    num_segments_ += static_cast<std::int64_t>(chain_of(input).size()) + 1;
    if (input.tokens->positions.empty())
      rotary_positions_ = std::max(rotary_positions_, input.first + rows);
    else
      for (const auto& row : input.tokens->positions.rows)
        rotary_positions_ =
            std::max(rotary_positions_, std::int64_t{*std::max_element(row.begin(), row.end())} + 1);
  }
}

bmk_sequences PassInputs::sizes() const {
  bmk_sequences sequences{};
  sequences.num_sequences = static_cast<std::int64_t>(inputs_.size());
  sequences.num_rows = num_rows_;
  sequences.num_chunks = chunk_offsets_.back();
  sequences.max_rows = max_rows_;
  sequences.host_row_offsets = row_offsets_.data();
  sequences.host_first_position = first_position_.data();
  return sequences;
}

bool PassInputs::upload(const std::shared_ptr<Context>& context, DeviceBuffer& block,
                        const ScratchViews& scratch) {
  lay_out(block.data(), scratch);
  const auto needed = static_cast<std::int64_t>(host_.size());
  const bool moves = needed > block.bytes();
  if (moves) {
    block.reset();
    block = DeviceBuffer(context, (needed + needed / 2 + 4095) / 4096 * 4096);
    lay_out(block.data(), scratch);
  }
  context->copy_to_device(block.data(), host_.data(), needed);
  return moves;
}

void PassInputs::lay_out(const void* device, const ScratchViews& scratch) {
  host_.clear();
  BlockBuilder block(host_, device);
  sequences_ = sizes();
  lay_out_rows(block);
  sequences_.row_offsets = block.add(row_offsets_);
  sequences_.first_position = block.add(first_position_);
  sequences_.chunk_offsets = block.add(chunk_offsets_);
  result_indices_ = block.add(result_rows_);

  std::vector<std::int64_t> capture_rows, segment_offsets = {0}, segment_first, segment_length;
  for (std::size_t s = 0; s < inputs_.size(); ++s) {
    const auto& input = inputs_[s];
    capture_rows.push_back(input.capture == nullptr ? 0 : input.capture->length() - input.first);
    for (const auto* state : chain_of(input)) {
      segment_first.push_back(state->first());
      segment_length.push_back(state->length() - state->first());
    }
    segment_first.push_back(input.first);
    segment_length.push_back(run_rows_[s].num_rows);
    segment_offsets.push_back(static_cast<std::int64_t>(segment_first.size()));
  }
  capture_rows_ = block.add(capture_rows);
  segment_offsets_ = block.add(segment_offsets);
  segment_first_position_ = block.add(segment_first);
  segment_length_ = block.add(segment_length);

  gdn_.clear();
  for (std::int64_t layer = 0; layer < num_gdn_layers_; ++layer) {
    std::vector<const void*> history_in;
    std::vector<void*> history_out;
    std::vector<const float*> state_in;
    std::vector<float*> state_out;
    for (const auto& input : inputs_) {
      history_in.push_back(input.parent == nullptr ? nullptr : input.parent->conv_history(layer));
      history_out.push_back(input.capture == nullptr ? nullptr : input.capture->conv_history(layer));
      state_in.push_back(input.parent == nullptr ? nullptr : input.parent->gdn_state(layer));
      state_out.push_back(input.capture == nullptr ? nullptr : input.capture->gdn_state(layer));
    }
    gdn_.push_back(
        {block.add(history_in), block.add(history_out), block.add(state_in), block.add(state_out)});
  }

  attention_.clear();
  for (std::int64_t layer = 0; layer < num_attention_layers_; ++layer) {
    std::vector<void*> key_out, value_out;
    std::vector<const void*> segment_keys, segment_values;
    for (std::size_t s = 0; s < inputs_.size(); ++s) {
      const auto& input = inputs_[s];
      const auto offset = run_rows_[s].first_row * kv_width_ * size_of(scratch.residual.dtype);
      // Null where scratch has no memory yet.
      const auto own = [&](void* rows) -> void* {
        return rows == nullptr ? nullptr : static_cast<char*>(rows) + offset;
      };
      key_out.push_back(input.capture == nullptr ? own(scratch.keys) : input.capture->keys(layer));
      value_out.push_back(input.capture == nullptr ? own(scratch.values) : input.capture->values(layer));
      for (const auto* state : chain_of(input)) {
        segment_keys.push_back(state->keys(layer));
        segment_values.push_back(state->values(layer));
      }
      segment_keys.push_back(key_out.back());
      segment_values.push_back(value_out.back());
    }
    attention_.push_back(
        {block.add(key_out), block.add(value_out), block.add(segment_keys), block.add(segment_values)});
  }
}

void PassInputs::lay_out_rows(BlockBuilder& block) {
  std::vector<std::int32_t> ids, sequence_of_row;
  std::vector<std::int32_t> positions(static_cast<std::size_t>(3 * num_rows_));
  for (std::size_t s = 0; s < inputs_.size(); ++s) {
    const auto& prompt = *inputs_[s].tokens;
    for (std::size_t i = 0; i < prompt.tokens.size(); ++i) {
      const auto row = ids.size();
      ids.push_back(prompt.tokens[i]);
      sequence_of_row.push_back(static_cast<std::int32_t>(s));
      for (std::size_t axis = 0; axis < 3; ++axis)
        positions[axis * static_cast<std::size_t>(num_rows_) + row] =
            prompt.positions.empty()
                ? static_cast<std::int32_t>(inputs_[s].first + static_cast<std::int64_t>(i))
                : prompt.positions.rows[axis][i];
    }
  }
  ids_ = block.add(ids);
  positions_ = block.add(positions);
  sequences_.sequence_of_row = block.add(sequence_of_row);
}

}  // namespace branchmark
