// What a run leaves behind for those that continue from it: per GDN layer the float32 state and the last
// three convolution input rows; per attention layer the keys (after norm and rotary) and values of the run's
// own rows. What came before is the parent's, by reference. A state is never stored below float32.
//
// Memory comes from a StatePool and returns to it when the last reference goes; contents are void from then
// on, and also after StatePool::void_contents. Resuming from a state that is incomplete, void, foreign or of
// another length is refused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/model/execution_plan.hpp"

namespace branchmark {

// Where the parts of a state lie. The fixed part holds, per GDN layer, [value_heads, 128, 128] f32, then
// [3, conv_channels] bf16; the rows part holds, per attention layer, keys then values [capacity, kv_heads ·
// 256] bf16.
class StateLayout {
 public:
  // The rows part is held in steps of this, so that a pooled one fits again.
  static constexpr std::int64_t kRowStep = 256;

  explicit StateLayout(const ModelConfig& config);

  std::int64_t fixed_bytes() const { return fixed_bytes_; }
  std::int64_t bytes_per_row() const { return bytes_per_row_; }
  StateCost cost() const { return {fixed_bytes_, bytes_per_row_, kRowStep}; }
  std::int64_t gdn_state_offset(std::int64_t gdn_layer) const { return gdn_layer * gdn_layer_bytes_; }
  std::int64_t conv_offset(std::int64_t gdn_layer) const {
    return gdn_layer * gdn_layer_bytes_ + gdn_state_bytes_;
  }
  std::int64_t key_offset(std::int64_t attention_layer, std::int64_t capacity_rows) const {
    return 2 * attention_layer * capacity_rows * kv_row_bytes_;
  }
  std::int64_t value_offset(std::int64_t attention_layer, std::int64_t capacity_rows) const {
    return (2 * attention_layer + 1) * capacity_rows * kv_row_bytes_;
  }
  std::int64_t num_gdn_layers() const { return num_gdn_layers_; }
  std::int64_t num_attention_layers() const { return num_attention_layers_; }

 private:
  std::int64_t num_gdn_layers_;
  std::int64_t num_attention_layers_;
  std::int64_t gdn_state_bytes_;
  std::int64_t gdn_layer_bytes_;
  std::int64_t kv_row_bytes_;
  std::int64_t fixed_bytes_;
  std::int64_t bytes_per_row_;
};

class StatePool;

class PrefixState {
 public:
  ~PrefixState();
  PrefixState(const PrefixState&) = delete;
  PrefixState& operator=(const PrefixState&) = delete;

  std::uint64_t owner() const { return owner_; }
  std::int64_t first() const { return first_; }    // where the run began: the parent's length
  std::int64_t length() const { return length_; }  // tokens of the prefix that the state stands for
  // Every layer was captured by a pass that ended well, the contents are not void, and the same holds for the
  // parents.
  bool complete() const;
  const std::shared_ptr<const PrefixState>& parent() const { return parent_; }
  std::int64_t capacity_rows() const { return capacity_rows_; }

  float* gdn_state(std::int64_t gdn_layer) const;
  void* conv_history(std::int64_t gdn_layer) const;
  void* keys(std::int64_t attention_layer) const;
  void* values(std::int64_t attention_layer) const;

  // For the pass that captures: a layer's part was queued; the pass has ended well.
  void mark_layer(std::int64_t layer);
  void mark_ended() { ended_ = true; }

 private:
  friend class StatePool;
  PrefixState() = default;

  std::shared_ptr<StatePool> pool_;
  std::shared_ptr<const PrefixState> parent_;
  std::uint64_t owner_ = 0;
  std::uint64_t generation_ = 0;
  std::int64_t first_ = 0;
  std::int64_t length_ = 0;
  std::int64_t capacity_rows_ = 0;
  std::int64_t layers_missing_ = 0;
  std::vector<bool> layer_seen_;
  bool ended_ = false;
  DeviceBuffer fixed_;
  DeviceBuffer rows_;
};

struct StatePoolStatistics {
  std::int64_t states_alive = 0;
  std::int64_t allocations = 0;  // of buffers, growth included
  std::int64_t bytes = 0;        // held, in use or not
};

// Keeps state memory across calls; a buffer grows for a longer prefix only. Used by one thread at a time.
// Under a limit, memory of another size than a state needs is freed rather than kept.
class StatePool : public std::enable_shared_from_this<StatePool> {
 public:
  StatePool(std::shared_ptr<Context> context, const ModelConfig& config, std::uint64_t owner);

  const StateLayout& layout() const { return layout_; }
  // An incomplete state for a run of `rows` rows from `parent` (null: from the start), captured after
  // `length` tokens. With `max_bytes` (0: no limit) the pool holds no more than that while the states alive
  // take no more, each its StateCost.
  std::shared_ptr<PrefixState> acquire(std::shared_ptr<const PrefixState> parent, std::int64_t length,
                                       std::int64_t rows, std::int64_t max_bytes = 0);
  // Voids the contents of every state handed out so far.
  void void_contents() { ++generation_; }
  std::uint64_t generation() const { return generation_; }
  // Bytes that would have to be allocated to hold the given rows of states at once, beyond what is pooled.
  std::int64_t missing_bytes(const std::vector<std::int64_t>& rows) const;
  // Bytes pooled that no state holds.
  std::int64_t free_bytes() const;
  const StatePoolStatistics& statistics() const { return statistics_; }
  // Sets every byte of the pooled memory that no state holds: what a later state must not depend on.
  void poison_free(int value);
  // Gives that memory back to the device.
  void release_free();

 private:
  friend class PrefixState;
  struct Slot {
    DeviceBuffer fixed;
    DeviceBuffer rows;
    std::int64_t capacity_rows = 0;
    std::int64_t bytes() const { return fixed.bytes() + rows.bytes(); }
  };
  Slot take_slot(std::int64_t rows);
  Slot take_slot_under(std::int64_t max_bytes, std::int64_t rows);
  void give_back(PrefixState& state) noexcept;

  std::shared_ptr<Context> context_;
  StateLayout layout_;
  std::int64_t num_layers_;
  std::uint64_t owner_;
  std::uint64_t generation_ = 1;
  std::vector<Slot> free_;
  StatePoolStatistics statistics_;
};

// Throws refused unless `state` can be continued by model `owner` at token `from`. `what` names the caller.
void require_resumable(const PrefixState& state, std::uint64_t owner, std::int64_t from,
                       const std::string& what);

}  // namespace branchmark
