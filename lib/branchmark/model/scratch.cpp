#include "branchmark/model/scratch.hpp"

#include <algorithm>

namespace branchmark {

// Byte offsets of the arena's parts, each a multiple of 256.
struct Scratch::Offsets {
  std::int64_t residual, normed, delta, projection, mixed, gates, beta, out, gated, activated, results, keys,
      values, bytes;
};

Scratch::Scratch(std::shared_ptr<Context> context, const ModelConfig& config, bmk_dtype activation)
    : context_(std::move(context)), config_(config), activation_(activation) {}

Scratch::Offsets Scratch::layout(std::int64_t rows) const {
  Offsets at{};
  std::int64_t end = 0;
  const auto place = [&](std::int64_t columns, bmk_dtype dtype) {
    const auto begin = end;
    end += (matrix_bytes(rows, columns, dtype) + 255) / 256 * 256;
    return begin;
  };
  const auto& c = config_;
  at.residual = place(c.hidden, activation_);
  at.normed = place(c.hidden, activation_);
  at.delta = place(c.hidden, activation_);
  at.projection =
      place(std::max({c.gdn_input_width(), c.attention_input_width(), c.gate_up_width()}), activation_);
  at.mixed = place(std::max(c.conv_channels(), c.query_width()), activation_);
  at.gates = place(c.value_heads, BMK_F32);
  at.beta = place(c.value_heads, BMK_F32);
  at.out = place(std::max(c.value_width(), c.query_width()), activation_);
  at.gated = place(c.value_width(), activation_);
  at.activated = place(c.ffn, activation_);
  at.results = place(c.hidden, activation_);
  at.keys = place(c.kv_width(), activation_);
  at.values = place(c.kv_width(), activation_);
  at.bytes = end;
  return at;
}

bool Scratch::reserve(std::int64_t rows, std::int64_t workspace_bytes) {
  bool moved = false;
  if (rows > capacity_rows_) {
    const auto capacity = (rows + kRowStep - 1) / kRowStep * kRowStep;
    arena_.reset();
    capacity_rows_ = 0;
    arena_ = DeviceBuffer(context_, layout(capacity).bytes);
    capacity_rows_ = capacity;
    ++num_growths_;
    moved = true;
  }
  if (workspace_bytes > workspace_.bytes()) {
    workspace_.reset();
    workspace_ = DeviceBuffer(context_, workspace_bytes);
    moved = true;
  }
  return moved;
}

void Scratch::release() {
  arena_.reset();
  workspace_.reset();
  capacity_rows_ = 0;
}

std::int64_t Scratch::missing_bytes(std::int64_t rows) const {
  const auto capacity = (rows + kRowStep - 1) / kRowStep * kRowStep;
  return capacity <= capacity_rows_ ? 0 : layout(capacity).bytes - arena_.bytes();
}

ScratchViews Scratch::views(std::int64_t rows) const {
  const auto at = layout(capacity_rows_);
  const auto view = [&](std::int64_t offset, std::int64_t columns, bmk_dtype dtype) {
    return matrix(static_cast<char*>(arena_.data()) + offset, rows, columns, dtype);
  };
  const auto& c = config_;
  ScratchViews views{};
  views.residual = view(at.residual, c.hidden, activation_);
  views.normed = view(at.normed, c.hidden, activation_);
  views.delta = view(at.delta, c.hidden, activation_);
  views.gdn_input = view(at.projection, c.gdn_input_width(), activation_);
  views.attention_input = view(at.projection, c.attention_input_width(), activation_);
  views.gate_up = view(at.projection, c.gate_up_width(), activation_);
  views.conv = view(at.mixed, c.conv_channels(), activation_);
  views.query = view(at.mixed, c.query_width(), activation_);
  views.gates = view(at.gates, c.value_heads, BMK_F32);
  views.beta = view(at.beta, c.value_heads, BMK_F32);
  views.gdn_out = view(at.out, c.value_width(), activation_);
  views.attention_out = view(at.out, c.query_width(), activation_);
  views.gated = view(at.gated, c.value_width(), activation_);
  views.activated = view(at.activated, c.ffn, activation_);
  views.results = view(at.results, c.hidden, activation_);
  views.keys = static_cast<char*>(arena_.data()) + at.keys;
  views.values = static_cast<char*>(arena_.data()) + at.values;
  return views;
}

void Scratch::poison(int value) {
  if (arena_.bytes() > 0) context_->fill(arena_.data(), value, arena_.bytes());
  if (workspace_.bytes() > 0) context_->fill(workspace_.data(), value, workspace_.bytes());
}

}  // namespace branchmark
