// Attention's preparation and attention itself. Branches read the keys and values of one prefix in place.
#include <algorithm>
#include <numeric>

#include "branchmark/bench/ops/op_list.hpp"
#include "branchmark/bench/work.hpp"
#include "branchmark/verify/operators/attention_segments.hpp"

namespace branchmark::ops {
namespace {

constexpr std::int64_t kDim = BMK_ATTENTION_HEAD_DIM;
constexpr std::int64_t kHeadStride = 2 * kDim;  // in the stacked projection: query, then gate, per head

// The row of each sequence's first token in a matrix of all.
std::vector<void*> first_rows(const bmk_matrix& all, const SequencesShape& shape) {
  std::vector<void*> rows;
  for (std::int64_t s = 0; s < shape.sequences; ++s)
    rows.push_back(rows_of(all, s * shape.tokens, shape.tokens).data);
  return rows;
}

// Temporal, height and width: as text has them, one after another behind the prefix.
std::vector<std::int32_t> positions_of(const SequencesShape& shape) {
  std::vector<std::int32_t> sequence(static_cast<std::size_t>(shape.tokens));
  std::iota(sequence.begin(), sequence.end(), static_cast<std::int32_t>(shape.prefix_tokens));
  std::vector<std::int32_t> positions;
  for (std::int64_t i = 0; i < 3 * shape.sequences; ++i)
    positions.insert(positions.end(), sequence.begin(), sequence.end());
  return positions;
}

OpWork attention_prepare(Operands& in, const SequencesShape& shape) {
  const auto& config = in.config();
  const auto rows = shape.num_rows();
  const auto& rotary = in.rotary(shape.prefix_tokens + shape.tokens);
  const auto keys = in.output(rows, config.kv_width(), in.activation());
  const auto values = in.output(rows, config.kv_width(), in.activation());
  const bmk_attention_prepare_args args{
      .struct_size = sizeof args,
      .numerics = in.numerics(),
      .eps = config.rms_eps,
      .query_heads = config.query_heads,
      .kv_heads = config.kv_heads,
      .sequences = in.sequences(shape.spans()),
      .projection = in.random("projection", rows, config.attention_input_width(), in.activation()),
      .query_norm = in.pool().weight("query norm", 1, kDim, BMK_BF16, kSmall),
      .key_norm = in.pool().weight("key norm", 1, kDim, BMK_BF16, kSmall),
      .cosines = rotary.cosines(),
      .sines = rotary.sines(),
      .positions = in.array(positions_of(shape)),
      .section_height = config.mrope_section[1],
      .section_width = config.mrope_section[2],
      .query = in.output(rows, config.query_width(), in.activation()),
      .key_out = in.array(first_rows(keys, shape)),
      .value_out = in.array(first_rows(values, shape))};
  // The gates stay where they are.
  return {in.launch("attention_prepare", in.context().table().ops->attention_prepare, args), 0,
          2 * bytes_of({args.query, keys, values})};
}

AttentionSegments make_segments(Operands& in, const SequencesShape& shape) {
  const auto width = in.config().kv_width();
  const auto key_rows = first_rows(in.random("keys", shape.num_rows(), width, in.activation()), shape);
  const auto value_rows = first_rows(in.random("values", shape.num_rows(), width, in.activation()), shape);
  const auto prefix_rows = std::max<std::int64_t>(shape.prefix_tokens, 1);
  const auto prefix_keys = in.random("prefix keys", prefix_rows, width, in.activation());
  const auto prefix_values = in.random("prefix values", prefix_rows, width, in.activation());
  AttentionSegments segments;
  for (std::size_t s = 0; s < key_rows.size(); ++s) {
    if (shape.prefix_tokens > 0) segments.add(prefix_keys.data, prefix_values.data, 0, shape.prefix_tokens);
    segments.add(key_rows[s], value_rows[s], shape.prefix_tokens, shape.tokens);
    segments.offsets.push_back(static_cast<std::int64_t>(segments.keys.size()));
  }
  return segments;
}

OpWork gated_attention(Operands& in, const SequencesShape& shape) {
  const auto& config = in.config();
  const auto rows = shape.num_rows();
  const auto segments = make_segments(in, shape);
  const auto projection = in.random("projection", rows, config.attention_input_width(), in.activation());
  bmk_gated_attention_args args{};
  args.struct_size = sizeof args;
  args.numerics = in.numerics();
  args.query_heads = config.query_heads;
  args.kv_heads = config.kv_heads;
  args.sequences = in.sequences(shape.spans());
  args.query = in.random("query", rows, config.query_width(), in.activation());
  args.gate = columns_of(projection, kDim, kHeadStride * (config.query_heads - 1) + kDim);
  args.gate_head_stride = kHeadStride;
  args.out = in.output(rows, config.query_width(), in.activation());
  args.num_segments = static_cast<std::int64_t>(segments.keys.size());
  args.max_positions = shape.prefix_tokens + shape.tokens;
  args.segment_offsets = in.array(segments.offsets);
  args.segment_keys = in.array(segments.keys);
  args.segment_values = in.array(segments.values);
  args.segment_first_position = in.array(segments.first_position);
  args.segment_length = in.array(segments.length);
  const auto& ops = *in.context().table().ops;
  args.workspace_bytes = operators::workspace_bytes(in.context(), "gated_attention_workspace",
                                                    ops.gated_attention_workspace, args);
  args.workspace = in.workspace(args.workspace_bytes);
  const auto seen =
      matrix(nullptr, shape.prefix_tokens + shape.tokens, 2 * config.kv_width(), in.activation());
  const double sequences = static_cast<double>(shape.sequences);
  return {
      in.launch("gated_attention", ops.gated_attention, args),
      sequences * static_cast<double>(config.query_heads) * attention_flop(shape.prefix_tokens, shape.tokens),
      3 * bytes_of({args.out}) + sequences * bytes_of({seen})};
}

}  // namespace

void add_attention(OpList& list) {
  for (const auto& shape : list.shapes()) list.add_shape("attention_prepare", shape, attention_prepare);
  for (const auto& shape : list.shapes()) list.add_shape("gated_attention", shape, gated_attention);
}

}  // namespace branchmark::ops
