// Cosines and sines of the rotary embedding, [positions, 32] each, in device memory.
//
// Frequency i is theta^(−2i/64) in float32, the angle position · frequency in float32; cosine and sine are
// taken in double on the host, once for every module, then rounded to the activation type.
#pragma once

#include <cstdint>
#include <memory>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/model/config.hpp"

namespace branchmark {

class RotaryTable {
 public:
  RotaryTable(std::shared_ptr<Context> context, const ModelConfig& config, bmk_dtype activation);

  // Makes positions 0 .. count − 1 available; the table grows by doubling. Returns whether it moved. May
  // synchronise.
  bool reserve(std::int64_t count);
  bmk_matrix cosines() const { return matrix(cosines_.data(), rows_, BMK_ROTARY_FREQUENCIES, activation_); }
  bmk_matrix sines() const { return matrix(sines_.data(), rows_, BMK_ROTARY_FREQUENCIES, activation_); }

 private:
  std::shared_ptr<Context> context_;
  double theta_;
  std::int64_t max_positions_;
  bmk_dtype activation_;
  std::int64_t rows_ = 0;
  DeviceBuffer cosines_;
  DeviceBuffer sines_;
};

}  // namespace branchmark
