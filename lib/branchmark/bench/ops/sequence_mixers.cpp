// The convolution and the gated delta net. A whole prompt captures its state at its last multiple of 64, as a
// prefix does; branches continue one state that they share.
#include "branchmark/bench/ops/op_list.hpp"
#include "branchmark/bench/work.hpp"

namespace branchmark::ops {
namespace {

std::int64_t last_capture(const SequencesShape& shape) {
  return shape.tokens / BMK_CHUNK_TOKENS * BMK_CHUNK_TOKENS;
}

bool captures(const SequencesShape& shape) {
  return shape.prefix_tokens == 0 && last_capture(shape) > 0;
}

// What each sequence has one of.
template <class T>
std::vector<T> for_each_sequence(const SequencesShape& shape, T value) {
  return std::vector<T>(static_cast<std::size_t>(shape.sequences), value);
}

OpWork conv(Operands& in, const SequencesShape& shape) {
  const auto channels = in.config().conv_channels();
  const auto rows = shape.num_rows();
  const auto projection = in.random("projection", rows, in.config().gdn_input_width(), in.activation());
  // Four taps a channel without padding.
  auto weight = in.pool().weight("conv", 1, channels * BMK_CONV_TAPS, BMK_BF16, kNormal);
  weight.rows = channels;
  weight.columns = weight.row_stride = BMK_CONV_TAPS;
  const auto out = in.output(rows, channels, in.activation());
  double bytes = bytes_of({columns_of(projection, 0, channels), weight, out});
  std::vector<void*> history_out = for_each_sequence<void*>(shape, nullptr);
  std::vector<const void*> history_in = for_each_sequence<const void*>(shape, nullptr);
  if (shape.prefix_tokens > 0) {
    const auto history = in.random("history", BMK_CONV_HISTORY, channels, in.activation());
    history_in = for_each_sequence<const void*>(shape, history.data);
    bytes += bytes_of({history});
  }
  if (captures(shape))
    for (auto& each : history_out) {
      const auto history = in.output(BMK_CONV_HISTORY, channels, in.activation());
      each = history.data;
      bytes += bytes_of({history});
    }
  const bmk_conv_args args{.struct_size = sizeof args,
                           .numerics = in.numerics(),
                           .reserved = 0,
                           .sequences = in.sequences(shape.spans()),
                           .x = columns_of(projection, 0, channels),
                           .weight = weight,
                           .out = out,
                           .history_in = in.array(history_in),
                           .history_out = in.array(history_out),
                           .history_at = in.array(for_each_sequence(shape, last_capture(shape)))};
  return {in.launch("conv", in.context().table().ops->conv, args), 0, bytes};
}

OpWork gdn_prefill(Operands& in, const SequencesShape& shape) {
  const auto& config = in.config();
  const auto rows = shape.num_rows();
  const auto state_rows = config.value_heads * BMK_GDN_HEAD_DIM;
  bmk_gdn_prefill_args args{};
  args.struct_size = sizeof args;
  args.numerics = in.numerics();
  args.key_heads = config.key_heads;
  args.value_heads = config.value_heads;
  args.sequences = in.sequences(shape.spans());
  args.qkv = in.random("qkv", rows, config.conv_channels(), in.activation());
  args.g = in.random("g", rows, config.value_heads, BMK_F32, kDecays);
  args.beta = in.random("beta", rows, config.value_heads, BMK_F32, kShares);
  args.out = in.output(rows, config.value_width(), in.activation());
  double bytes = bytes_of({args.qkv, args.g, args.beta, args.out});
  auto states_in = for_each_sequence<const float*>(shape, nullptr);
  auto states_out = for_each_sequence<float*>(shape, nullptr);
  if (shape.prefix_tokens > 0) {
    const auto state = in.random("state", state_rows, BMK_GDN_HEAD_DIM, BMK_F32);
    states_in = for_each_sequence<const float*>(shape, static_cast<const float*>(state.data));
    bytes += static_cast<double>(shape.sequences) * bytes_of({state});
  }
  if (captures(shape))
    for (auto& each : states_out) {
      const auto state = in.output(state_rows, BMK_GDN_HEAD_DIM, BMK_F32);
      each = static_cast<float*>(state.data);
      bytes += bytes_of({state});
    }
  args.state_in = in.array(states_in);
  args.state_out = in.array(states_out);
  args.state_at = in.array(for_each_sequence(shape, last_capture(shape)));
  const auto& ops = *in.context().table().ops;
  args.workspace_bytes =
      operators::workspace_bytes(in.context(), "gdn_prefill_workspace", ops.gdn_prefill_workspace, args);
  args.workspace = in.workspace(args.workspace_bytes);
  const double heads = static_cast<double>(shape.sequences * config.value_heads);
  const std::int64_t whole_chunks = shape.tokens / BMK_CHUNK_TOKENS;
  return {in.launch("gdn_prefill", ops.gdn_prefill, args),
          heads * (static_cast<double>(whole_chunks) * gdn_chunk_flop(BMK_CHUNK_TOKENS) +
                   gdn_chunk_flop(shape.tokens % BMK_CHUNK_TOKENS)),
          bytes};
}

}  // namespace

void add_sequence_mixers(OpList& list) {
  for (const auto& shape : list.shapes()) list.add_shape("conv", shape, conv);
  for (const auto& shape : list.shapes()) list.add_shape("gdn_prefill", shape, gdn_prefill);
  for (const auto& published : {SequencesShape{1, 0, 2048}, SequencesShape{8, 0, 1024}})
    if (list.has_room_for(published)) list.add_shape("gdn_prefill", published, gdn_prefill);
}

}  // namespace branchmark::ops
