#include "branchmark/model/prefix_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace branchmark {
namespace {

constexpr std::int64_t kAlignment = 256;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
std::int64_t stepped(std::int64_t rows) {
  constexpr auto kStep = StateLayout::kRowStep;
  return (rows + kStep - 1) / kStep * kStep;
}

void* at(const DeviceBuffer& buffer, std::int64_t offset) {
  return static_cast<char*>(buffer.data()) + offset;
}

}  // namespace

StateLayout::StateLayout(const ModelConfig& config)
    : num_gdn_layers_(config.num_layers(LayerKind::gdn)),
      num_attention_layers_(config.num_layers(LayerKind::attention)),
      gdn_state_bytes_(config.value_heads * BMK_GDN_HEAD_DIM * BMK_GDN_HEAD_DIM * size_of(BMK_F32)),
      gdn_layer_bytes_(gdn_state_bytes_ +
                       aligned(BMK_CONV_HISTORY * config.conv_channels() * size_of(BMK_BF16))),
      kv_row_bytes_(config.kv_width() * size_of(BMK_BF16)),
      fixed_bytes_(num_gdn_layers_ * gdn_layer_bytes_),
      bytes_per_row_(2 * num_attention_layers_ * kv_row_bytes_) {}

PrefixState::~PrefixState() {
  pool_->give_back(*this);
}

bool PrefixState::complete() const {
  return ended_ && layers_missing_ == 0 && generation_ == pool_->generation() &&
         (parent_ == nullptr || parent_->complete());
}

float* PrefixState::gdn_state(std::int64_t gdn_layer) const {
  return static_cast<float*>(at(fixed_, pool_->layout().gdn_state_offset(gdn_layer)));
}

void* PrefixState::conv_history(std::int64_t gdn_layer) const {
  return at(fixed_, pool_->layout().conv_offset(gdn_layer));
}

void* PrefixState::keys(std::int64_t attention_layer) const {
  return at(rows_, pool_->layout().key_offset(attention_layer, capacity_rows_));
}

void* PrefixState::values(std::int64_t attention_layer) const {
  return at(rows_, pool_->layout().value_offset(attention_layer, capacity_rows_));
}

void PrefixState::mark_layer(std::int64_t layer) {
  auto seen = layer_seen_[static_cast<std::size_t>(layer)];
  if (!seen) --layers_missing_;
  seen = true;
}

StatePool::StatePool(std::shared_ptr<Context> context, const ModelConfig& config, std::uint64_t owner)
    : context_(std::move(context)), layout_(config), num_layers_(config.num_layers()), owner_(owner) {}

// The smallest pooled slot that is large enough, else the largest one, which then grows.
StatePool::Slot StatePool::take_slot(std::int64_t rows) {
  const auto by_capacity = [](const Slot& a, const Slot& b) { return a.capacity_rows < b.capacity_rows; };
  std::sort(free_.begin(), free_.end(), by_capacity);
  auto found =
      std::find_if(free_.begin(), free_.end(), [&](const Slot& s) { return s.capacity_rows >= rows; });
  if (found == free_.end()) {
    if (free_.empty()) return {};
    --found;
  }
  Slot slot = std::move(*found);
  free_.erase(found);
  return slot;
}

// One of exactly the size needed, or room for it.
StatePool::Slot StatePool::take_slot_under(std::int64_t max_bytes, std::int64_t rows) {
  const auto found = std::find_if(free_.begin(), free_.end(),
                                  [&](const Slot& s) { return s.capacity_rows == stepped(rows); });
  Slot slot;
  if (found != free_.end()) {
    slot = std::move(*found);
    free_.erase(found);
  }
  const auto needed = layout_.cost().bytes(rows) - slot.bytes();
  while (!free_.empty() && statistics_.bytes + needed > max_bytes) {
    statistics_.bytes -= free_.back().bytes();
    free_.pop_back();
  }
  return slot;
}

std::shared_ptr<PrefixState> StatePool::acquire(std::shared_ptr<const PrefixState> parent,
                                                std::int64_t length, std::int64_t rows,
                                                std::int64_t max_bytes) {
  Slot slot = max_bytes > 0 ? take_slot_under(max_bytes, rows) : take_slot(rows);
  try {
    if (slot.fixed.bytes() < layout_.fixed_bytes()) {
      slot.fixed = DeviceBuffer(context_, layout_.fixed_bytes());
      statistics_.bytes += layout_.fixed_bytes();
      ++statistics_.allocations;
    }
    if (slot.capacity_rows < rows) {
      const auto capacity = stepped(rows);
      statistics_.bytes -= slot.rows.bytes();
      slot.rows.reset();
      slot.capacity_rows = 0;
      slot.rows = DeviceBuffer(context_, capacity * layout_.bytes_per_row());
      slot.capacity_rows = capacity;
      statistics_.bytes += slot.rows.bytes();
      ++statistics_.allocations;
    }
  } catch (...) {
    statistics_.bytes -= slot.bytes();  // half a slot is not kept
    throw;
  }
  std::shared_ptr<PrefixState> state(new PrefixState);
  state->pool_ = shared_from_this();
  state->owner_ = owner_;
  state->generation_ = generation_;
  state->first_ = parent == nullptr ? 0 : parent->length();
  state->length_ = length;
  state->parent_ = std::move(parent);
  state->capacity_rows_ = slot.capacity_rows;
  state->layers_missing_ = num_layers_;
  state->layer_seen_.assign(static_cast<std::size_t>(num_layers_), false);
  state->fixed_ = std::move(slot.fixed);
  state->rows_ = std::move(slot.rows);
  ++statistics_.states_alive;
  return state;
}

void StatePool::give_back(PrefixState& state) noexcept {
  --statistics_.states_alive;
  Slot slot;
  slot.fixed = std::move(state.fixed_);
  slot.rows = std::move(state.rows_);
  slot.capacity_rows = state.capacity_rows_;
  free_.push_back(std::move(slot));
}

std::int64_t StatePool::missing_bytes(const std::vector<std::int64_t>& rows) const {
  auto wanted = rows;
  std::sort(wanted.begin(), wanted.end(), std::greater<>());
  std::vector<std::int64_t> capacities;
  for (const auto& slot : free_) capacities.push_back(slot.capacity_rows);
  std::sort(capacities.begin(), capacities.end(), std::greater<>());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i >= capacities.size())
      bytes += layout_.fixed_bytes() + stepped(wanted[i]) * layout_.bytes_per_row();
    else if (capacities[i] < wanted[i])
      bytes += (stepped(wanted[i]) - capacities[i]) * layout_.bytes_per_row();
  }
  return bytes;
}

std::int64_t StatePool::free_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& slot : free_) bytes += slot.bytes();
  return bytes;
}

void StatePool::poison_free(int value) {
  for (const auto& slot : free_) {
    if (slot.fixed.bytes() > 0) context_->fill(slot.fixed.data(), value, slot.fixed.bytes());
    if (slot.rows.bytes() > 0) context_->fill(slot.rows.data(), value, slot.rows.bytes());
  }
}

void StatePool::release_free() {
  for (const auto& slot : free_) statistics_.bytes -= slot.fixed.bytes() + slot.rows.bytes();
  free_.clear();
}

void require_resumable(const PrefixState& state, std::uint64_t owner, std::int64_t from,
                       const std::string& what) {
  if (state.owner() != owner)
    throw Error(ErrorCode::refused, fmt::format("{}: the prefix state belongs to another model", what));
  if (!state.complete())
    throw Error(ErrorCode::refused, fmt::format("{}: the prefix state is incomplete or void", what));
  if (state.length() != from)
    throw Error(ErrorCode::refused,
                fmt::format("{}: the prefix state stands for {} tokens, the run begins at {}", what,
                            state.length(), from));
}

}  // namespace branchmark
