// Depthwise causal convolution of 4 taps, then SiLU.
//
//   y[r, c] = round(((w[c, 0] · x[r − 3, c] + w[c, 1] · x[r − 2, c]) + w[c, 2] · x[r − 1, c])
//                   + w[c, 3] · x[r, c])
//   out[r, c] = round(silu(y[r, c]))
//
// x, out: [rows, channels], bf16 or f32; weight: [channels, 4], bf16 or f32 as stored. Float32 inside,
// every product rounded before it is added. Rows before a sequence's first are its history's, before the
// prompt's start zeros, which are multiplied like any other value.
//
// Rows are independent: a row reads four rows and adds its taps in one order. A thread walks down a few
// rows of eight channels and keeps the last three inputs; where they came from, own rows or history, the
// arithmetic is the same code. The history to hand on is copied by further blocks of the same launch, one
// row of blocks a sequence.
//
// Bound by memory.
#include "ops.hpp"
#include "sequences.cuh"

namespace branchmark::cuda {
namespace {

struct ConvConfig {
  static constexpr int kThreads = 128;
  // Rows that one thread walks: their loads are all in flight at once, and three more rows are read again.
  static constexpr int kRows = 8;
  static constexpr int kBlockChannels = kThreads * kVector;
};
static_assert(BMK_CONV_HISTORY == BMK_CONV_TAPS - 1, "the history holds the taps before a row");
static_assert(BMK_CONV_TAPS == 4, "a tap row of weights is loaded as one vector of 4");

template <typename W>
struct alignas(4 * sizeof(W)) TapWeights {
  W tap[BMK_CONV_TAPS];
};

// Eight channels of the input row at own row `row` of a sequence; rows -3 .. -1 lie in the history.
template <typename T>
__device__ __forceinline__ Raw8<T> load_input(const bmk_conv_args& args, std::int64_t sequence,
                                              std::int64_t row, std::int64_t channel) {
  if (row >= 0) {
    const std::int64_t packed_row = args.sequences.row_offsets[sequence] + row;
    return load_raw8(static_cast<const T*>(args.x.data) + packed_row * args.x.row_stride + channel);
  }
  const T* history = static_cast<const T*>(args.history_in[sequence]);
  if (history == nullptr) return Raw8<T>{};
  return load_raw8(history + (BMK_CONV_HISTORY + row) * args.x.columns + channel);
}

template <typename T>
__device__ void write_history(const bmk_conv_args& args, std::int64_t sequence, std::int64_t channel) {
  T* out = static_cast<T*>(args.history_out[sequence]);
  if (out == nullptr) return;
  const std::int64_t first = args.history_at[sequence] - BMK_CONV_HISTORY;
#pragma unroll
  for (int h = 0; h < BMK_CONV_HISTORY; ++h)
    store_raw8(out + h * args.x.columns + channel, load_input<T>(args, sequence, first + h, channel));
}

// blockIdx.x: blocks of channels. blockIdx.y: first the blocks of rows, then the sequences whose history
// goes out.
template <typename T, typename W>
__global__ void __launch_bounds__(ConvConfig::kThreads)
    conv_kernel(const __grid_constant__ bmk_conv_args args, std::int64_t row_blocks) {
  const std::int64_t channel =
      static_cast<std::int64_t>(blockIdx.x) * ConvConfig::kBlockChannels + threadIdx.x * kVector;
  if (channel >= args.x.columns) return;
  const std::int64_t block = blockIdx.y + static_cast<std::int64_t>(blockIdx.z) * gridDim.y;
  if (block >= row_blocks) {
    const std::int64_t sequence = block - row_blocks;
    if (sequence < args.sequences.num_sequences) write_history<T>(args, sequence, channel);
    return;
  }

  const std::int64_t first_row = block * ConvConfig::kRows;
  Raw8<T> own[ConvConfig::kRows];
  std::int32_t sequence[ConvConfig::kRows];
#pragma unroll
  for (int i = 0; i < ConvConfig::kRows; ++i) {
    const std::int64_t row = first_row + i < args.x.rows ? first_row + i : first_row;
    own[i] = load_raw8(static_cast<const T*>(args.x.data) + row * args.x.row_stride + channel);
    sequence[i] = args.sequences.sequence_of_row[row];
  }
  float weight[BMK_CONV_TAPS][kVector];
#pragma unroll
  for (int c = 0; c < kVector; ++c) {
    const TapWeights<W> taps = static_cast<const TapWeights<W>*>(args.weight.data)[channel + c];
#pragma unroll
    for (int tap = 0; tap < BMK_CONV_TAPS; ++tap) weight[tap][c] = to_float(taps.tap[tap]);
  }

  Raw8<T> before[BMK_CONV_HISTORY];  // oldest first
#pragma unroll
  for (int i = 0; i < ConvConfig::kRows; ++i) {
    const std::int64_t row = first_row + i;
    if (row >= args.x.rows) return;
    if (i == 0 || sequence[i] != sequence[i - 1]) {
      const std::int64_t own_row = row - args.sequences.row_offsets[sequence[i]];
#pragma unroll
      for (int h = 0; h < BMK_CONV_HISTORY; ++h)
        before[h] = load_input<T>(args, sequence[i], own_row - BMK_CONV_HISTORY + h, channel);
    }
    Float8 result;
#pragma unroll
    for (int c = 0; c < kVector; ++c) {
      float sum = __fmul_rn(weight[0][c], to_float(before[0].element[c]));
      sum = __fadd_rn(sum, __fmul_rn(weight[1][c], to_float(before[1].element[c])));
      sum = __fadd_rn(sum, __fmul_rn(weight[2][c], to_float(before[2].element[c])));
      sum = __fadd_rn(sum, __fmul_rn(weight[3][c], to_float(own[i].element[c])));
      result.element[c] = silu<T>(round_to<T>(sum));
    }
    store8(static_cast<T*>(args.out.data) + row * args.out.row_stride + channel, result);
    before[0] = before[1];
    before[1] = before[2];
    before[2] = own[i];
  }
}

void require_conv(const bmk_conv_args& args) {
  require_numerics(args.numerics, args.x.dtype, "conv");
  require_matrix(args.x, "conv: x");
  require_matrix(args.out, "conv: out", args.x.rows, args.x.columns, args.x.dtype);
  require_sequences(args.sequences, args.x.rows);
  // Rows of a history are `channels` apart, and a row stride is a multiple of 8.
  require_equal(args.x.columns % kStrideMultiple, 0, "conv: x.columns modulo 8");
  require_equal(args.weight.rows, args.x.columns, "conv: weight.rows");
  require_equal(args.weight.columns, BMK_CONV_TAPS, "conv: weight.columns");
  require_equal(args.weight.row_stride, BMK_CONV_TAPS, "conv: weight.row_stride");
  if (args.weight.dtype != BMK_BF16) require_equal(args.weight.dtype, BMK_F32, "conv: weight.dtype");
  require_pointer(args.weight.data, "conv: weight");
  require_equal(
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(args.weight.data) % kDataAlignmentBytes), 0,
      "conv: weight.data modulo 16");
  if (args.sequences.num_sequences == 0) return;
  require_pointer(args.history_in, "conv: history_in");
  require_pointer(args.history_out, "conv: history_out");
  require_pointer(args.history_at, "conv: history_at");
}

}  // namespace

bmk_status conv(bmk_stream* stream, const bmk_conv_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "conv");
    require_conv(*args);
    const std::int64_t row_blocks = ceil_div(args->x.rows, ConvConfig::kRows);
    const std::int64_t blocks = row_blocks + args->sequences.num_sequences;
    if (blocks == 0 || args->x.columns == 0) return;
    constexpr std::int64_t kMaxGridY = 65535;
    const std::int64_t grid_y = blocks < kMaxGridY ? blocks : kMaxGridY;
    const std::int64_t grid_z = ceil_div(blocks, grid_y);
    const dim3 grid(grid_of(ceil_div(args->x.columns, ConvConfig::kBlockChannels), "conv"),
                    static_cast<unsigned>(grid_y), static_cast<unsigned>(grid_z));
    for_dtype(args->x.dtype, [&](auto* activation) {
      for_dtype(args->weight.dtype, [&](auto* weight) {
        conv_kernel<pointee<decltype(activation)>, pointee<decltype(weight)>>
            <<<grid, ConvConfig::kThreads, 0, queue>>>(*args, row_blocks);
      });
    });
    check_launch("conv");
  });
}

}  // namespace branchmark::cuda
