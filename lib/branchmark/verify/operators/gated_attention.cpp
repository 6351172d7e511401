// gated_attention against the float64 softmax, 4e-3 relative L2 (1e-5 for numerics reference), and what its
// bits depend on. Keys and values of a prompt's prefix stay where an earlier piece put them, segment by
// segment, with NaN behind each segment's last row.
#include "branchmark/verify/oracle/attention.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "branchmark/verify/operators/attention_segments.hpp"
#include "branchmark/verify/operators/sequence_op.hpp"

namespace branchmark::operators {
namespace {

constexpr std::int64_t kDim = BMK_ATTENTION_HEAD_DIM;
constexpr std::int64_t kGateStride = 2 * kDim;  // as in the stacked projection: query, then gate, per head
constexpr double kDefaultBound = 4e-3;
constexpr double kReferenceBound = 1e-5;

struct AttentionShape {
  bmk_numerics numerics = BMK_NUMERICS_DEFAULT;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  float query_scale = 1.0f;  // 1: scores of standard deviation 1; 6: a few keys take nearly all
};

class GatedAttention : public SequenceOp {
 public:
  struct Inputs {
    HostMatrix query;
    HostMatrix gate;  // [rows, 256 · query_heads]
    HostMatrix keys;
    HostMatrix values;
  };

  GatedAttention(Bench& bench, const AttentionShape& shape, const std::vector<std::int64_t>& prompt_rows)
      : context_(bench.context), shape_(shape) {
    const auto dtype = activation_of(shape.numerics);
    for (const auto rows : prompt_rows)
      prompts_.push_back(
          {random_matrix(bench.random, rows, shape.query_heads * kDim, dtype, shape.query_scale),
           random_matrix(bench.random, rows, shape.query_heads * kDim, dtype, 2.0f),
           random_matrix(bench.random, rows, shape.kv_heads * kDim, dtype),
           random_matrix(bench.random, rows, shape.kv_heads * kDim, dtype)});
  }

  const Inputs& inputs(std::int64_t prompt) const { return prompts_[static_cast<std::size_t>(prompt)]; }

  std::int64_t prompt_rows(std::int64_t prompt) const override { return inputs(prompt).query.rows; }
  std::int64_t out_columns() const override { return shape_.query_heads * kDim; }
  std::int64_t carried_elements() const override { return 0; }

  void poison(std::int64_t prompt) override {
    auto& in = prompts_[static_cast<std::size_t>(prompt)];
    for (auto* matrix : {&in.query, &in.gate, &in.keys, &in.values})
      std::fill(matrix->values.begin(), matrix->values.end(), std::numeric_limits<float>::quiet_NaN());
  }

  std::vector<PieceResult> run(Verdict& verdict, std::span<const Piece> pieces, Stale stale) override {
    const auto dtype = activation_of(shape_.numerics);
    std::vector<HostMatrix> query_rows;
    std::vector<HostMatrix> gate_rows;
    AttentionSegments segments;
    std::vector<DeviceMatrix> own;  // keys and values of each piece
    std::int64_t max_positions = 0;
    for (const auto& piece : pieces) {
      const auto& in = inputs(piece.prompt);
      query_rows.push_back(rows_of(in.query, piece.from, piece.rows()));
      gate_rows.push_back(rows_of(in.gate, piece.from, piece.rows()));
      add_ancestors(segments, piece.parent.get());
      const auto& keys =
          own.emplace_back(context_, rows_of(in.keys, piece.from, piece.rows()), Stride::tight, stale);
      const void* key_data = keys.data();
      const auto& values =
          own.emplace_back(context_, rows_of(in.values, piece.from, piece.rows()), Stride::tight, stale);
      segments.add(key_data, values.data(), piece.from, piece.rows());
      segments.offsets.push_back(static_cast<std::int64_t>(segments.keys.size()));
      max_positions = std::max(max_positions, piece.to);
    }
    const Sequences sequences(context_, spans_of(pieces));
    const DeviceMatrix query(context_, stacked(query_rows), Stride::padded, stale);
    const DeviceMatrix projection(context_, beside_queries(stacked(gate_rows)), Stride::padded, stale);
    const DeviceMatrix out(context_, query.view().rows, out_columns(), dtype);
    const DeviceArray<std::int64_t> offsets(context_, segments.offsets);
    const DeviceArray<const void*> keys(context_, segments.keys);
    const DeviceArray<const void*> values(context_, segments.values);
    const DeviceArray<std::int64_t> first_position(context_, segments.first_position);
    const DeviceArray<std::int64_t> length(context_, segments.length);
    bmk_gated_attention_args args{
        .struct_size = sizeof(bmk_gated_attention_args),
        .numerics = shape_.numerics,
        .reserved = 0,
        .query_heads = shape_.query_heads,
        .kv_heads = shape_.kv_heads,
        .sequences = sequences.view(),
        .query = query.view(),
        .gate = columns_of(projection.view(), kDim, projection.view().columns - kDim),
        .gate_head_stride = kGateStride,
        .out = out.view(),
        .num_segments = static_cast<std::int64_t>(segments.keys.size()),
        .max_positions = max_positions,
        .segment_offsets = offsets.data(),
        .segment_keys = keys.data(),
        .segment_values = values.data(),
        .segment_first_position = first_position.data(),
        .segment_length = length.data(),
        .workspace = nullptr,
        .workspace_bytes = 0};
    const auto& ops = *context_->table().ops;
    args.workspace_bytes =
        workspace_bytes(*context_, "gated_attention_workspace", ops.gated_attention_workspace, args);
    const auto workspace = poisoned_buffer(context_, args.workspace_bytes);
    args.workspace = workspace.data();
    run_op(*context_, "gated_attention", ops.gated_attention, args);

    const auto rows = out.download(verdict, "out");
    std::vector<PieceResult> results;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      results.push_back({rows_of(rows, sequences.first_row(static_cast<std::int64_t>(i)), pieces[i].rows()),
                         capture(pieces[i])});
    return results;
  }

 private:
  // Segments from the prompt's start to `carried`.
  static void add_ancestors(AttentionSegments& segments, const Carried* carried) {
    if (carried == nullptr) return;
    add_ancestors(segments, carried->parent.get());
    const auto rows = carried->contents[0].rows;
    segments.add(carried->matrices[0].data(), carried->matrices[1].data(), carried->position - rows, rows);
  }

  // The first rows of a piece's own keys and values, as a segment for those that continue it.
  std::shared_ptr<const Carried> capture(const Piece& piece) const {
    if (!piece.capture_at) return nullptr;
    const auto& in = inputs(piece.prompt);
    auto carried = std::make_shared<Carried>();
    carried->parent = piece.parent;
    carried->position = piece.from + *piece.capture_at;
    for (const auto* matrix : {&in.keys, &in.values}) {
      carried->contents.push_back(rows_of(*matrix, piece.from, *piece.capture_at));
      carried->matrices.emplace_back(context_, carried->contents.back(), Stride::tight);
    }
    return carried;
  }

  // Gates in their place of a projection, NaN where the queries stood.
  static HostMatrix beside_queries(const HostMatrix& gate) {
    HostMatrix projection(gate.rows, 2 * gate.columns, gate.dtype);
    std::fill(projection.values.begin(), projection.values.end(), std::numeric_limits<float>::quiet_NaN());
    for (std::int64_t row = 0; row < gate.rows; ++row)
      for (std::int64_t i = 0; i < gate.columns; ++i)
        projection.at(row, i / kDim * kGateStride + kDim + i % kDim) = gate.at(row, i);
    return projection;
  }

  std::shared_ptr<Context> context_;
  AttentionShape shape_;
  std::vector<Inputs> prompts_;
};

// Each prompt in one call with the others, then the last one's end behind segments of 64 and 64 keys.
void check_accuracy(Bench& bench, Verdict& verdict, const AttentionShape& shape) {
  const std::vector<std::int64_t> lengths{1, 64, 65, 200};
  GatedAttention op(bench, shape, lengths);
  const double bound = shape.numerics == BMK_NUMERICS_REFERENCE ? kReferenceBound : kDefaultBound;
  const auto last = static_cast<std::int64_t>(lengths.size()) - 1;
  constexpr std::int64_t kCut = 2 * BMK_CHUNK_TOKENS;
  for (const auto rows : lengths) verdict.plan(rows, op.out_columns());
  verdict.plan(lengths.back() - kCut, op.out_columns());

  const auto judge = [&](const Piece& piece, const HostMatrix& found) {
    const auto& in = op.inputs(piece.prompt);
    const auto exact =
        oracle::gated_attention(rows_of(in.query, piece.from, piece.rows()),
                                rows_of(in.gate, piece.from, piece.rows()), in.keys, in.values, piece.from);
    verdict.near("out", exact, found, bound);
  };
  std::vector<Piece> pieces;
  for (std::int64_t prompt = 0; prompt <= last; ++prompt)
    pieces.push_back(
        {.prompt = prompt, .from = 0, .to = op.prompt_rows(prompt), .parent = {}, .capture_at = {}});
  const auto found = run_pieces(op, verdict, pieces);
  for (std::size_t i = 0; i < pieces.size(); ++i) judge(pieces[i], found[i].out);

  std::shared_ptr<const Carried> parent;
  for (std::int64_t from = 0; from < kCut; from += BMK_CHUNK_TOKENS)
    parent = run_pieces(op, verdict,
                        {{.prompt = last,
                          .from = from,
                          .to = from + BMK_CHUNK_TOKENS,
                          .parent = parent,
                          .capture_at = BMK_CHUNK_TOKENS}})[0]
                 .carried;
  const Piece rest{.prompt = last, .from = kCut, .to = lengths.back(), .parent = parent, .capture_at = {}};
  judge(rest, run_pieces(op, verdict, {rest})[0].out);
}

}  // namespace

void add_gated_attention(CaseList& list) {
  for (const auto numerics : kAllNumerics) {
    for (const float query_scale : {1.0f, 6.0f}) {
      auto shape = AttentionShape{numerics, 3, 1, query_scale};
      if (list.full()) shape = {numerics, 16, 4, query_scale};
      list.add("gated_attention", "accuracy", numerics,
               {{"query_heads", shape.query_heads},
                {"kv_heads", shape.kv_heads},
                {"data", query_scale > 1.0f ? "peaked" : "flat"}},
               [=](Bench& bench, Verdict& verdict) { check_accuracy(bench, verdict, shape); });
    }
    const auto shape =
        list.full() ? AttentionShape{numerics, 16, 4, 1.0f} : AttentionShape{numerics, 2, 1, 1.0f};
    add_sequence_op(list, {"gated_attention",
                           numerics,
                           {{"query_heads", shape.query_heads}, {"kv_heads", shape.kv_heads}},
                           false,
                           [=](Bench& bench, const std::vector<std::int64_t>& prompt_rows) {
                             return std::make_unique<GatedAttention>(bench, shape, prompt_rows);
                           }});
  }
}

}  // namespace branchmark::operators
