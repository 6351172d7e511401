// Recording what each layer or each op of a layer gave, row by row, and finding where two computations of one
// prompt part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "branchmark/model/observer.hpp"

namespace branchmark {

// Keeps either the residual stream entering every layer and the final rows, or every op of one layer.
class Trace : public PassObserver {
 public:
  static Trace of_streams() { return Trace(std::nullopt); }
  static Trace of_layer(std::int64_t layer) { return Trace(layer); }

  void begin_pass(const std::vector<RunRows>& runs) override { runs_ = runs; }
  bool wants(std::int64_t layer, std::string_view op) const override;
  void observe(Context& context, std::int64_t layer, std::string_view op, const bmk_matrix& out) override;

  using Place = std::pair<std::int64_t, std::string>;  // layer, op
  // The rows of one run at one place.
  struct Rows {
    std::int64_t first_position = 0;
    std::int64_t columns = 0;
    bmk_dtype dtype = BMK_BF16;
    std::vector<float> values;
    std::int64_t num_rows() const {
      return columns == 0 ? 0 : static_cast<std::int64_t>(values.size()) / columns;
    }
    const float* row(std::int64_t position) const {
      return values.data() + (position - first_position) * columns;
    }
  };
  const std::vector<Place>& places() const { return places_; }  // in the order of execution
  // Null where the run was not seen at that place.
  const Rows* rows(const Place& place, std::int64_t run) const;

 private:
  explicit Trace(std::optional<std::int64_t> layer) : layer_(layer) {}

  std::optional<std::int64_t> layer_;
  std::vector<RunRows> runs_;
  std::vector<Place> places_;
  std::map<std::pair<Place, std::int64_t>, Rows> rows_;
};

// A prompt inside a trace: the runs that cover its tokens, from the first on.
using RunChain = std::vector<std::int64_t>;

struct Difference {
  std::int64_t layer = 0;
  std::string op;
  std::int64_t position = 0;
  std::int64_t column = 0;
  float left = 0;
  float right = 0;
  bmk_dtype dtype = BMK_BF16;
};

// The first place, in order of execution, then the first position that both have, then the first column whose
// bits differ.
std::optional<Difference> first_difference(const Trace& left, const RunChain& left_runs, const Trace& right,
                                           const RunChain& right_runs);

// "layer 3, op conv, row 64, column 7: 0x3f80 (1) and 0x3f81 (1.0078125), 1 bf16 ulp apart"
std::string describe(const Difference& difference);

}  // namespace branchmark
