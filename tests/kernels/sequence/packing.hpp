// Packed sequences, as the ops take them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "branchmark/kernels.h"

namespace branchmark::cpu::test {

class Packing {
 public:
  void add(int64_t first_position, int64_t rows) {
    first_position_.push_back(first_position);
    sequence_of_row_.insert(sequence_of_row_.end(), static_cast<size_t>(rows),
                            static_cast<int32_t>(first_position_.size() - 1));
    row_offsets_.push_back(row_offsets_.back() + rows);
    chunk_offsets_.push_back(chunk_offsets_.back() + (rows + BMK_CHUNK_TOKENS - 1) / BMK_CHUNK_TOKENS);
    max_rows_ = std::max(max_rows_, rows);
  }
  int64_t num_rows() const { return row_offsets_.back(); }
  bmk_sequences view() const {
    return {static_cast<int64_t>(first_position_.size()),
            num_rows(),
            chunk_offsets_.back(),
            max_rows_,
            row_offsets_.data(),
            first_position_.data(),
            chunk_offsets_.data(),
            sequence_of_row_.data(),
            row_offsets_.data(),
            first_position_.data()};
  }

 private:
  std::vector<int64_t> row_offsets_ = {0};
  std::vector<int64_t> first_position_;
  std::vector<int64_t> chunk_offsets_ = {0};
  std::vector<int32_t> sequence_of_row_;
  int64_t max_rows_ = 0;
};

}  // namespace branchmark::cpu::test
