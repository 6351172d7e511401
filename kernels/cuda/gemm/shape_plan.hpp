// What a GEMM handle knows of one weight's shape: the algorithms, and which of them serves which rows.
#pragma once

#include <map>
#include <span>
#include <utility>

#include "../tuning/row_table.hpp"
#include "product.hpp"

namespace branchmark::cuda {

class ShapePlan {
 public:
  // What the library itself would take at some number of rows. Kept as the library gave it: another algorithm
  // of the same fingerprint may carry other hints.
  struct DefaultChoice {
    Algorithm algorithm;
    std::int64_t index = 0;  // in algorithms()
  };

  explicit ShapePlan(const bmk_gemm_shape& shape);

  const bmk_gemm_shape& shape() const noexcept { return shape_; }
  // The product in true float32 has one algorithm, its own, which serves every number of rows.
  bool is_reference() const noexcept { return is_reference_; }

  // True once `search` was done; always for a reference product, which has nothing to search.
  bool searched() const noexcept { return searched_; }

  // Asks the heuristics at every standard bound. Lists the fixed algorithm first, then every other unsplit
  // one that was offered, then the module's own kernels that `device` runs, then the split ones. Host only.
  // BMK_UNSERVED_SIZE where no unsplit one is offered at kFixedRows.
  void search(const LtContext& context, const bmk_device& device);

  std::span<Algorithm> algorithms() noexcept { return algorithms_; }
  std::span<const Algorithm> algorithms() const noexcept { return algorithms_; }
  // The unsplit ones of the search, which stand first: all that a class can be made of.
  std::span<Algorithm> candidates() noexcept { return std::span(algorithms_).first(num_candidates_); }
  std::span<const Algorithm> candidates() const noexcept {
    return std::span(algorithms_).first(num_candidates_);
  }

  // Puts the candidates into the order of these fingerprints. False, and nothing done, unless they are the
  // same set and begin with the fixed one.
  bool reorder_candidates(std::span<const std::string> fingerprints);
  // Moves the members of the class behind the fixed one. Only while the table is empty.
  void gather_members();

  // Whether an algorithm of the list serves `rows`; the library is asked once for each pair.
  bool serves(const LtContext& context, std::int64_t index, std::int64_t rows);

  // What `run` takes at `rows`. BMK_UNSERVED_SIZE where there is nothing to take.
  const DefaultChoice& default_choice(const LtContext& context, std::int64_t rows);
  std::int64_t fixed_choice(const LtContext& context, std::int64_t rows);
  // The table's choice, the fixed algorithm where that one does not serve these very rows.
  std::int64_t class_choice(const LtContext& context, std::int64_t rows);

  // What default_choice has answered so far, by rows.
  const std::map<std::int64_t, DefaultChoice>& default_choices() const noexcept { return default_choices_; }
  RowTable& table() noexcept { return table_; }
  const RowTable& table() const noexcept { return table_; }
  // Row counts at which the table's choice had to give way to the fixed algorithm.
  std::int64_t num_fallbacks() const noexcept { return num_fallbacks_; }

  // M at which the fixed algorithm is the heuristics' first choice.
  static constexpr std::int64_t kFixedRows = 64;

 private:
  std::int64_t index_of(const std::string& fingerprint) const;  // -1: not listed

  bmk_gemm_shape shape_;
  bool is_reference_;
  bool searched_;
  std::vector<Algorithm> algorithms_;
  std::size_t num_candidates_ = 0;
  RowTable table_;
  std::map<std::pair<std::int64_t, std::int64_t>, bool> served_;  // (algorithm, rows)
  std::map<std::int64_t, DefaultChoice> default_choices_;         // by rows
  std::int64_t num_fallbacks_ = 0;
};

}  // namespace branchmark::cuda
