// Depthwise causal convolution of 4 taps, then SiLU.
//
//   y[r] = round(((w[0] · x[r − 3] + w[1] · x[r − 2]) + w[2] · x[r − 1]) + w[3] · x[r])      per channel
//   out[r] = round(silu(y[r]))
//
// x, out: [rows, channels], bf16 or f32; weight: [channels, 4], bf16 or f32 as stored. Arithmetic is
// float32; round is to the activation type. Rows r − 3 .. r are those of the row's own sequence; before its
// first row they are the history's, and before the prompt's start zeros, which are multiplied like any other
// value.
//
// Rows are independent: a row reads four rows of input and sums its taps in one order. Where a tap comes from
// is decided by a pointer; the arithmetic is the same code for own taps, history and zeros.
//
// Bound by memory: 8 operations an element, plus the exp of SiLU.
#include "ops/math.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {
namespace {

constexpr int64_t kTaps = BMK_CONV_TAPS;
constexpr int64_t kHistory = BMK_CONV_HISTORY;
static_assert(kHistory == kTaps - 1, "the history holds the taps before a row");

// Channels and rows of one task: the block's weights stay in the first-level cache while its rows pass.
constexpr int64_t kBlockChannels = 256;
constexpr int64_t kBlockRows = 64;

// Elements [channel, channel + count) of the input row at own row `row` of the sequence whose rows begin at
// `begin`, converted to float32. Rows -3 .. -1 lie in the history.
void load_input(float* to, const bmk_conv_args& args, int64_t begin, const void* history, int64_t row,
                int64_t channel, int64_t count) {
  if (row >= 0) {
    load_row(to, args.x.data, (begin + row) * args.x.row_stride + channel, count, args.x.dtype);
  } else if (history != nullptr) {
    load_row(to, history, (kHistory + row) * args.x.columns + channel, count, args.x.dtype);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = 0.0f;
  }
}

void convolve_block(const bmk_conv_args& args, int64_t first_row, int64_t last_row, int64_t channel,
                    int64_t count) {
  float weights[kTaps][kBlockChannels];
  for (int64_t tap = 0; tap < kTaps; ++tap) {
    for (int64_t i = 0; i < count; ++i) {
      weights[tap][i] =
          load(args.weight.data, (channel + i) * args.weight.row_stride + tap, args.weight.dtype);
    }
  }
  for (int64_t r = first_row; r < last_row; ++r) {
    const int64_t sequence = args.sequences.sequence_of_row[r];
    const int64_t begin = args.sequences.row_offsets[sequence];
    float sum[kBlockChannels];
    float input[kBlockChannels];
    for (int64_t tap = 0; tap < kTaps; ++tap) {
      load_input(input, args, begin, args.history_in[sequence], r - begin - kHistory + tap, channel, count);
      if (tap == 0) {
        for (int64_t i = 0; i < count; ++i) sum[i] = weights[0][i] * input[i];
      } else {
        for (int64_t i = 0; i < count; ++i) sum[i] += weights[tap][i] * input[i];
      }
    }
    if (args.out.dtype == BMK_BF16) {
      for (int64_t i = 0; i < count; ++i) sum[i] = round_bf16(sum[i]);
    }
    for (int64_t i = 0; i < count; ++i) sum[i] = silu(sum[i]);
    store_row(args.out.data, r * args.out.row_stride + channel, count, args.out.dtype, sum);
  }
}

// The rows of input before own row history_at, oldest first.
void write_history(const bmk_conv_args& args, int64_t sequence) {
  void* out = args.history_out[sequence];
  if (out == nullptr) return;
  const int64_t begin = args.sequences.row_offsets[sequence];
  const int64_t first = args.history_at[sequence] - kHistory;
  float input[kBlockChannels];
  for (int64_t h = 0; h < kHistory; ++h) {
    for (int64_t channel = 0; channel < args.x.columns; channel += kBlockChannels) {
      const int64_t left = args.x.columns - channel;
      const int64_t count = left < kBlockChannels ? left : kBlockChannels;
      load_input(input, args, begin, args.history_in[sequence], first + h, channel, count);
      store_row(out, h * args.x.columns + channel, count, args.x.dtype, input);
    }
  }
}

}  // namespace

void conv(Workers& workers, const bmk_conv_args& args) {
  const int64_t rows = args.x.rows;
  const int64_t channels = args.x.columns;
  const int64_t row_blocks = (rows + kBlockRows - 1) / kBlockRows;
  const int64_t channel_blocks = (channels + kBlockChannels - 1) / kBlockChannels;
  parallel_for(workers, row_blocks * channel_blocks, [&](int64_t block) {
    const int64_t row = block / channel_blocks * kBlockRows;
    const int64_t channel = block % channel_blocks * kBlockChannels;
    const int64_t last_row = row + kBlockRows < rows ? row + kBlockRows : rows;
    const int64_t left = channels - channel;
    convolve_block(args, row, last_row, channel, left < kBlockChannels ? left : kBlockChannels);
  });
  parallel_for(workers, args.sequences.num_sequences,
               [&](int64_t sequence) { write_history(args, sequence); });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
