// The activations of one pass: one arena, grown in steps of 1,024 rows and never shrunk, and one workspace
// for the ops that ask for it. Nothing allocates inside a pass. Contents are void between passes.
#pragma once

#include <cstdint>
#include <memory>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/model/config.hpp"

namespace branchmark {

// Views for a pass of a number of rows; parts that are never needed together share memory.
struct ScratchViews {
  bmk_matrix residual;         // [rows, hidden]
  bmk_matrix normed;           // [rows, hidden]
  bmk_matrix delta;            // [rows, hidden]: a block's output before it is added
  bmk_matrix gdn_input;        // [rows, gdn_input_width]
  bmk_matrix attention_input;  // [rows, attention_input_width], the memory of gdn_input
  bmk_matrix gate_up;          // [rows, gate_up_width], the memory of gdn_input
  bmk_matrix conv;             // [rows, conv_channels]
  bmk_matrix query;            // [rows, query_width], the memory of conv
  bmk_matrix gates;            // [rows, value_heads] f32
  bmk_matrix beta;             // [rows, value_heads] f32
  bmk_matrix gdn_out;          // [rows, value_width]
  bmk_matrix attention_out;    // [rows, query_width], the memory of gdn_out
  bmk_matrix gated;            // [rows, value_width]
  bmk_matrix activated;        // [rows, ffn]
  bmk_matrix results;          // [rows, hidden]
  void* keys;                  // [rows, kv_width] of runs that capture nothing
  void* values;
};

class Scratch {
 public:
  static constexpr std::int64_t kRowStep = 1024;

  Scratch(std::shared_ptr<Context> context, const ModelConfig& config, bmk_dtype activation);

  // Makes room for a pass; returns whether memory moved. The old arena is freed first.
  bool reserve(std::int64_t rows, std::int64_t workspace_bytes);
  // Gives everything back; growths stay counted.
  void release();
  // Bytes that `reserve` would allocate beyond what it frees.
  std::int64_t missing_bytes(std::int64_t rows) const;
  ScratchViews views(std::int64_t rows) const;
  void* workspace() const { return workspace_.data(); }
  std::int64_t workspace_bytes() const { return workspace_.bytes(); }
  std::int64_t capacity_rows() const { return capacity_rows_; }
  std::int64_t num_growths() const { return num_growths_; }
  // Sets every byte: what a later pass must not depend on.
  void poison(int value);

 private:
  struct Offsets;
  Offsets layout(std::int64_t rows) const;

  std::shared_ptr<Context> context_;
  ModelConfig config_;
  bmk_dtype activation_;
  std::int64_t capacity_rows_ = 0;
  std::int64_t num_growths_ = 0;
  DeviceBuffer arena_;
  DeviceBuffer workspace_;
};

}  // namespace branchmark
