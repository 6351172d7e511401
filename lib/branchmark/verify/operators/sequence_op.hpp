// Cases that the ops on packed sequences share: convolution, gated delta net, attention.
//
// Such an op runs *pieces*: tokens [from, to) of a prompt, after what an earlier piece left behind. All facts
// follow from one promise: the bits of a row depend on its prompt up to that row, and on nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "branchmark/verify/operators/case_list.hpp"
#include "branchmark/verify/operators/rig.hpp"

namespace branchmark::operators {

// What a piece leaves for those that continue it: history rows, a state, or keys and values. Read only once
// made; several pieces may share one.
struct Carried {
  std::shared_ptr<const Carried> parent;
  std::int64_t position = 0;  // tokens of the prompt that it stands for
  std::vector<DeviceMatrix> matrices;
  std::vector<HostMatrix> contents;  // of the matrices
};

struct Piece {
  std::int64_t prompt = 0;
  std::int64_t from = 0;  // a multiple of 64
  std::int64_t to = 0;
  std::shared_ptr<const Carried> parent;   // NULL: from the prompt's start
  std::optional<std::int64_t> capture_at;  // own rows, a multiple of 64

  std::int64_t rows() const { return to - from; }
};

struct PieceResult {
  HostMatrix out;
  std::shared_ptr<const Carried> carried;  // with capture_at
};

// One op with the inputs of several prompts.
class SequenceOp {
 public:
  SequenceOp() = default;
  SequenceOp(const SequenceOp&) = delete;
  SequenceOp& operator=(const SequenceOp&) = delete;
  virtual ~SequenceOp() = default;

  virtual std::int64_t prompt_rows(std::int64_t prompt) const = 0;
  virtual std::int64_t out_columns() const = 0;
  // Elements in a Carried that the op itself writes: 0 for attention, whose keys are inputs.
  virtual std::int64_t carried_elements() const = 0;
  // One packed call over poisoned outputs and workspace.
  virtual std::vector<PieceResult> run(Verdict& verdict, std::span<const Piece> pieces, Stale stale) = 0;
  // Turns every input of a prompt into NaN.
  virtual void poison(std::int64_t prompt) = 0;
};

struct SequenceOpCases {
  std::string op;
  bmk_numerics numerics = BMK_NUMERICS_DEFAULT;
  Parameters sizes;
  bool writes_carried = true;  // false for attention: no fact `captured` then
  std::function<std::unique_ptr<SequenceOp>(Bench&, const std::vector<std::int64_t>& prompt_rows)> make;
};

// Runs pieces, and has the verdict hear of a parent that was written to.
std::vector<PieceResult> run_pieces(SequenceOp& op, Verdict& verdict, const std::vector<Piece>& pieces,
                                    Stale stale = Stale::nan);

// Tokens [from, from + rows) of a matrix with a row per token, of each piece after the other.
HostMatrix packed_rows(std::span<const HostMatrix> prompts, std::span<const Piece> pieces);
std::vector<SequenceSpan> spans_of(std::span<const Piece> pieces);

// Adds row_bits, packed, continued, tails, captured, zero_rows, stale_rows and long_neighbour.
void add_sequence_op(CaseList& list, const SequenceOpCases& cases);

}  // namespace branchmark::operators
