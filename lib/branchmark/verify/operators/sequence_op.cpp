#include "branchmark/verify/operators/sequence_op.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace branchmark::operators {
namespace {

constexpr std::int64_t kChunk = BMK_CHUNK_TOKENS;

Piece whole_prompt(const SequenceOp& op, std::int64_t prompt) {
  const auto rows = op.prompt_rows(prompt);
  return {.prompt = prompt, .from = 0, .to = rows, .parent = nullptr, .capture_at = rows / kChunk * kChunk};
}

std::string told(const Piece& piece) {
  return fmt::format("tokens {} to {} of prompt {}", piece.from, piece.to, piece.prompt);
}

void plan_carried(Verdict& verdict, const SequenceOp& op) {
  verdict.plan(1, op.carried_elements());
}

void plan_piece(Verdict& verdict, const SequenceOp& op, std::int64_t rows) {
  verdict.plan(rows, op.out_columns());
}

// Compares what the op wrote; attention writes nothing of what it carries.
void compare_carried(Verdict& verdict, const SequenceOp& op, const Carried& expected, const Carried& found,
                     const std::string& situation) {
  if (op.carried_elements() == 0) {
    verdict.count(1, 0);
    return;
  }
  const auto flat = [](HostMatrix matrix) {
    matrix.columns = matrix.size();
    matrix.rows = 1;
    return matrix;
  };
  verdict.same_bits("carried state", flat(expected.contents[0]), flat(found.contents[0]), situation);
}

void compare(Verdict& verdict, const SequenceOp& op, const PieceResult& expected, const PieceResult& found,
             const std::string& situation) {
  verdict.same_bits("out", expected.out, found.out, situation);
  compare_carried(verdict, op, *expected.carried, *found.carried, situation);
}

// A prefix of a prompt has the bits that it has within the whole, whatever the number of rows.
void check_row_bits(SequenceOp& op, Verdict& verdict) {
  const std::vector<std::int64_t> lengths{1, 2, 7, 64, 65, 257};
  for (const auto rows : lengths) plan_piece(verdict, op, rows);
  const auto whole = run_pieces(op, verdict, {whole_prompt(op, 0)});
  for (const auto rows : lengths) {
    const auto part =
        run_pieces(op, verdict, {{.prompt = 0, .from = 0, .to = rows, .parent = {}, .capture_at = {}}});
    verdict.same_bits("out", rows_of(whole[0].out, 0, rows), part[0].out,
                      fmt::format("the first {} rows alone and within {} rows", rows, op.prompt_rows(0)));
  }
}

// Packed, packed in reverse order, and beside a prompt full of NaN.
void check_packed(SequenceOp& op, Verdict& verdict, std::int64_t num_prompts) {
  const std::int64_t poisoned = num_prompts / 2;
  for (std::int64_t prompt = 0; prompt < num_prompts; ++prompt)
    for (int pass = 0; pass < (prompt == poisoned ? 2 : 3); ++pass) {
      plan_piece(verdict, op, op.prompt_rows(prompt));
      plan_carried(verdict, op);
    }
  std::vector<Piece> pieces;
  std::vector<PieceResult> alone;
  for (std::int64_t prompt = 0; prompt < num_prompts; ++prompt) {
    pieces.push_back(whole_prompt(op, prompt));
    alone.push_back(run_pieces(op, verdict, {pieces.back()})[0]);
  }
  const auto packed = run_pieces(op, verdict, pieces);
  const auto reversed = run_pieces(op, verdict, {pieces.rbegin(), pieces.rend()});
  op.poison(poisoned);
  const auto beside_nan = run_pieces(op, verdict, pieces);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    compare(verdict, op, alone[i], packed[i], told(pieces[i]) + " packed with others and alone");
    compare(verdict, op, alone[i], reversed[pieces.size() - 1 - i],
            told(pieces[i]) + " packed in reverse order and alone");
    if (pieces[i].prompt != poisoned)
      compare(verdict, op, alone[i], beside_nan[i],
              told(pieces[i]) + fmt::format(" beside prompt {}, all NaN, and alone", poisoned));
  }
}

// Every cut on the grid, then a chain of single chunks: rows and last captured state of one pass.
void check_continued(SequenceOp& op, Verdict& verdict, std::int64_t num_prompts) {
  for (std::int64_t prompt = 0; prompt < num_prompts; ++prompt) {
    const auto rows = op.prompt_rows(prompt);
    for (std::int64_t cut = kChunk; cut <= rows; cut += kChunk) {
      plan_piece(verdict, op, rows);
      plan_carried(verdict, op);
    }
    plan_piece(verdict, op, rows);
  }
  for (std::int64_t prompt = 0; prompt < num_prompts; ++prompt) {
    const auto rows = op.prompt_rows(prompt);
    const auto last = rows / kChunk * kChunk;
    const auto whole = run_pieces(op, verdict, {whole_prompt(op, prompt)})[0];
    for (std::int64_t cut = kChunk; cut <= rows; cut += kChunk) {
      const auto head = run_pieces(
          op, verdict, {{.prompt = prompt, .from = 0, .to = cut, .parent = {}, .capture_at = cut}})[0];
      const Piece tail{
          .prompt = prompt, .from = cut, .to = rows, .parent = head.carried, .capture_at = last - cut};
      const auto rest = run_pieces(op, verdict, {tail})[0];
      const auto situation = fmt::format("cut at {} of {} rows and in one pass", cut, rows);
      verdict.same_bits("out", rows_of(whole.out, 0, cut), head.out, situation);
      verdict.same_bits("out", rows_of(whole.out, cut, rows - cut), rest.out, situation);
      compare_carried(verdict, op, *whole.carried, *rest.carried, situation);
    }
    std::shared_ptr<const Carried> parent;
    for (std::int64_t from = 0; from < rows; from += kChunk) {
      const auto to = std::min(rows, from + kChunk);
      const auto link = run_pieces(op, verdict,
                                   {{.prompt = prompt,
                                     .from = from,
                                     .to = to,
                                     .parent = parent,
                                     .capture_at = (to - from) / kChunk * kChunk}})[0];
      verdict.same_bits("out", rows_of(whole.out, from, to - from), link.out,
                        fmt::format("chunk from {} after a chain of parents and in one pass", from));
      parent = link.carried;
    }
  }
}

// Continuations of 1 to 63 rows of one parent, in one call: the parent is shared and non-zero.
void check_tails(SequenceOp& op, Verdict& verdict) {
  for (std::int64_t rows = 1; rows < kChunk; ++rows) plan_piece(verdict, op, rows);
  const auto whole = run_pieces(op, verdict, {whole_prompt(op, 0)})[0];
  const auto parent = run_pieces(
      op, verdict, {{.prompt = 0, .from = 0, .to = kChunk, .parent = {}, .capture_at = kChunk}})[0];
  std::vector<Piece> tails;
  for (std::int64_t rows = 1; rows < kChunk; ++rows)
    tails.push_back(
        {.prompt = 0, .from = kChunk, .to = kChunk + rows, .parent = parent.carried, .capture_at = {}});
  const auto found = run_pieces(op, verdict, tails);
  for (std::size_t i = 0; i < tails.size(); ++i)
    verdict.same_bits("out", rows_of(whole.out, kChunk, tails[i].rows()), found[i].out,
                      fmt::format("a tail of {} rows and the rows of a full chunk", tails[i].rows()));
}

// Lengths around the grid: what is captured at 64n is what a run of 64n rows ends with.
void check_captured(SequenceOp& op, Verdict& verdict) {
  const std::vector<std::int64_t> lengths{63, 64, 65, 127, 128, 129};
  for (std::size_t i = 0; i < lengths.size(); ++i) plan_carried(verdict, op);
  for (const auto rows : lengths) {
    const auto at = rows / kChunk * kChunk;
    const Piece piece{.prompt = 0, .from = 0, .to = rows, .parent = {}, .capture_at = at};
    const auto found = run_pieces(op, verdict, {piece})[0];
    const auto exact =
        run_pieces(op, verdict, {{.prompt = 0, .from = 0, .to = at, .parent = {}, .capture_at = at}})[0];
    compare_carried(verdict, op, *exact.carried, *found.carried,
                    fmt::format("captured at {} of {} rows and at the end of {} rows", at, rows, at));
  }
}

// A sequence without rows copies its parent's state, or writes zeros; packed between two with rows.
void check_zero_rows(SequenceOp& op, Verdict& verdict) {
  for (int i = 0; i < 3; ++i) plan_carried(verdict, op);
  plan_piece(verdict, op, 2 * op.prompt_rows(0));
  const auto start = whole_prompt(op, 0);
  const auto parent = run_pieces(op, verdict, {start})[0];
  const auto at = *start.capture_at;
  const Piece copying{.prompt = 0, .from = at, .to = at, .parent = parent.carried, .capture_at = 0};
  const Piece starting{.prompt = 0, .from = 0, .to = 0, .parent = {}, .capture_at = 0};
  const auto found = run_pieces(op, verdict, {copying, start, starting, start, copying});
  compare_carried(verdict, op, *parent.carried, *found[0].carried, "zero rows copy what they continue");
  compare_carried(verdict, op, *parent.carried, *found[4].carried, "zero rows copy what they continue");
  if (op.carried_elements() > 0) {
    Carried zeros;
    zeros.contents.emplace_back(parent.carried->contents[0].rows, parent.carried->contents[0].columns,
                                parent.carried->contents[0].dtype);
    compare_carried(verdict, op, zeros, *found[2].carried, "zero rows at a prompt's start write zeros");
  } else {
    verdict.count(1, 0);
  }
  for (const std::size_t i : {1, 3})
    verdict.same_bits("out", parent.out, found[i].out, "beside sequences of zero rows and alone");
}

void check_stale_rows(SequenceOp& op, Verdict& verdict, std::int64_t num_prompts) {
  for (std::int64_t prompt = 0; prompt < num_prompts; ++prompt)
    for (int pass = 0; pass < 2; ++pass) {
      plan_piece(verdict, op, op.prompt_rows(prompt));
      plan_carried(verdict, op);
    }
  for (std::int64_t prompt = 0; prompt < num_prompts; ++prompt) {
    const auto piece = whole_prompt(op, prompt);
    const auto zeros = run_pieces(op, verdict, {piece}, Stale::zeros)[0];
    compare(verdict, op, zeros, run_pieces(op, verdict, {piece}, Stale::nan)[0],
            told(piece) + " before stale rows of NaN and of zeros");
    compare(verdict, op, zeros, run_pieces(op, verdict, {piece}, Stale::large)[0],
            told(piece) + " before stale rows of 2^100 and of zeros");
  }
}

void check_long_neighbour(SequenceOp& op, Verdict& verdict) {
  constexpr std::int64_t kShort = 3;  // prompts 0 to 2; the last is the long one
  std::vector<Piece> pieces;
  for (std::int64_t prompt = 0; prompt < kShort; ++prompt) {
    plan_piece(verdict, op, op.prompt_rows(prompt));
    plan_carried(verdict, op);
    pieces.push_back(whole_prompt(op, prompt));
  }
  std::vector<PieceResult> alone;
  for (const auto& piece : pieces) alone.push_back(run_pieces(op, verdict, {piece})[0]);
  pieces.insert(pieces.begin() + 1, whole_prompt(op, kShort));
  const auto packed = run_pieces(op, verdict, pieces);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].prompt != kShort)
      compare(verdict, op, alone[static_cast<std::size_t>(pieces[i].prompt)], packed[i],
              fmt::format("{} beside {} rows and alone", told(pieces[i]), op.prompt_rows(kShort)));
}

}  // namespace

std::vector<PieceResult> run_pieces(SequenceOp& op, Verdict& verdict, const std::vector<Piece>& pieces,
                                    Stale stale) {
  auto results = op.run(verdict, pieces, stale);
  for (const auto& piece : pieces) {
    if (!piece.parent) continue;
    for (std::size_t i = 0; i < piece.parent->matrices.size(); ++i) {
      const auto now = piece.parent->matrices[i].download(verdict, "parent");
      if (now.values != piece.parent->contents[i].values)
        verdict.fail("parent_changed", fmt::format("{} changed what it continues", told(piece)));
    }
  }
  return results;
}

HostMatrix packed_rows(std::span<const HostMatrix> prompts, std::span<const Piece> pieces) {
  std::vector<HostMatrix> parts;
  for (const auto& piece : pieces)
    parts.push_back(rows_of(prompts[static_cast<std::size_t>(piece.prompt)], piece.from, piece.rows()));
  return stacked(parts);
}

std::vector<SequenceSpan> spans_of(std::span<const Piece> pieces) {
  std::vector<SequenceSpan> spans;
  for (const auto& piece : pieces) spans.push_back({.rows = piece.rows(), .first_position = piece.from});
  return spans;
}

void add_sequence_op(CaseList& list, const SequenceOpCases& cases) {
  const auto add = [&](const std::string& fact, const std::vector<std::int64_t>& prompt_rows, auto check) {
    Parameters sizes{{"rows", prompt_rows}};
    sizes.insert(sizes.end(), cases.sizes.begin(), cases.sizes.end());
    list.add(cases.op, fact, cases.numerics, sizes,
             [make = cases.make, prompt_rows, check](Bench& bench, Verdict& verdict) {
               check(*make(bench, prompt_rows), verdict, static_cast<std::int64_t>(prompt_rows.size()));
             });
  };
  const auto of_one = [](void (*check)(SequenceOp&, Verdict&)) {
    return [check](SequenceOp& op, Verdict& verdict, std::int64_t) { check(op, verdict); };
  };
  add("row_bits", {1000}, of_one(check_row_bits));
  add("packed", {1, 2, 3, 4, 63, 64, 65, 130, 200}, check_packed);
  add("continued", {200, 192}, check_continued);
  add("tails", {128}, of_one(check_tails));
  if (cases.writes_carried) add("captured", {129}, of_one(check_captured));
  add("zero_rows", {70}, of_one(check_zero_rows));
  add("stale_rows", {1, 63, 65, 130}, check_stale_rows);
  add("long_neighbour", {1, 70, 130, list.full() ? 4096 : 1024}, of_one(check_long_neighbour));
}

}  // namespace branchmark::operators
