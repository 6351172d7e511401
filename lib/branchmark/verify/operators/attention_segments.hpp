// The keys and values of sequences as gated_attention is given them (kernels.h): runs of rows, sequence by
// sequence.
#pragma once

#include <cstdint>
#include <vector>

namespace branchmark {

struct AttentionSegments {
  std::vector<std::int64_t> offsets{0};  // where each sequence's segments begin, and the end of the last
  std::vector<const void*> keys;
  std::vector<const void*> values;
  std::vector<std::int64_t> first_position;
  std::vector<std::int64_t> length;

  void add(const void* segment_keys, const void* segment_values, std::int64_t first, std::int64_t rows) {
    keys.push_back(segment_keys);
    values.push_back(segment_values);
    first_position.push_back(first);
    length.push_back(rows);
  }
};

}  // namespace branchmark
