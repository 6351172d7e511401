// A recorded reference: per case the token ids, positions where they are not 0 .. T − 1, the residual streams
// entering each layer and the rows after the final norm.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/prefix_tree.hpp"

namespace branchmark {

struct ReferenceCase {
  std::string name;
  Prompt prompt;
  std::vector<std::vector<float>> streams;  // [layers recorded][tokens, hidden], entering layer i
  std::vector<float> last_hidden;           // [tokens, hidden]
};

// A safetensors file with, per case C: `C.input_ids` [T] i64, `C.position_ids` [3 or 4, T] i64 (optional; the
// last three rows are temporal, height, width), `C.stream_i` [T, hidden] f32 (optional), `C.last_hidden` [T,
// hidden] f32.
class ReferenceFile {
 public:
  // Throws io or usage; a file without a case is refused.
  explicit ReferenceFile(const std::filesystem::path& file);

  const std::vector<std::string>& cases() const { return cases_; }  // sorted
  // Throws usage where shapes do not fit together or `hidden`.
  ReferenceCase read(const std::string& name, std::int64_t hidden, std::int64_t num_layers) const;

 private:
  Safetensors file_;
  std::vector<std::string> cases_;
};

}  // namespace branchmark
