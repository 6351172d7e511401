// Blocks of y are independent items of work. A worker takes one and runs over k in steps of kBlockDepth: it
// packs x, then tile by tile packs w and multiplies while the tile is in the nearest cache; the sums wait in
// float32 between the steps, which is exact. Where an algorithm has several sums per output, each is finished
// before the next begins, and they are added in order.
#include "gemm/gemm.hpp"

#include "gemm/lanes.hpp"
#include "gemm/pack.hpp"
#include "gemm/tile.hpp"
#include "ops/math.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {
namespace {

inline int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// What one worker holds.
struct Scratch {
  alignas(64) float sums[kGemmMaxBlockRows * kGemmMaxBlockColumns];
  alignas(64) float totals[kGemmMaxBlockRows * kGemmMaxBlockColumns];
  alignas(64) float x[kGemmMaxBlockRows * kBlockDepth];
  alignas(64) float w[kTileColumns * kBlockDepth];
};

struct Block {
  int64_t first_row, rows, first_column, columns;
  int64_t stride() const { return (columns + kTileColumns - 1) / kTileColumns * kTileColumns; }
};

// The k that one sum of an output takes: first, first + step, ... below end.
struct Strand {
  int64_t begin, end, phase, step;
};

void clear(float* sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] = 0.0f;
}

void sum_strand(Scratch& scratch, const bmk_gemm_args& args, const Block& block, const Strand& strand) {
  const int64_t stride = block.stride();
  clear(scratch.sums, block.rows * stride);
  for (int64_t k = strand.begin; k < strand.end; k += kBlockDepth) {
    const int64_t depth = smaller(kBlockDepth, strand.end - k);
    pack_x(scratch.x, args.x, block.first_row, block.rows, k, depth);
    for (int64_t column = 0; column < stride; column += kTileColumns) {
      pack_w(scratch.w, args.w, block.first_column + column, block.columns - column, k, depth);
      for (int64_t row = 0; row < block.rows; row += kTileRows) {
        multiply_rows(block.rows - row, scratch.sums + row * stride + column, stride,
                      scratch.x + row * kBlockDepth, scratch.w, strand.phase, strand.step, depth);
      }
    }
  }
}

// The strands of an output one after another; leaves their sum in scratch.sums.
void sum_block(Scratch& scratch, const GemmAlgorithm& algorithm, const bmk_gemm_args& args,
               const Block& block) {
  static_assert(kBlockDepth % 2 == 0, "an interleaved strand must keep its phase from one step to the next");
  const int64_t depth = args.x.columns;
  const int64_t size = block.rows * block.stride();
  for (int64_t part = 0; part < algorithm.split_k; ++part) {
    for (int64_t phase = 0; phase < algorithm.interleave; ++phase) {
      const Strand strand{depth * part / algorithm.split_k, depth * (part + 1) / algorithm.split_k, phase,
                          algorithm.interleave};
      sum_strand(scratch, args, block, strand);
      if (part + phase > 0) {
        for (int64_t i = 0; i < size; ++i) scratch.sums[i] = scratch.totals[i] + scratch.sums[i];
      }
      if (algorithm.split_k * algorithm.interleave > 1) {
        for (int64_t i = 0; i < size; ++i) scratch.totals[i] = scratch.sums[i];
      }
    }
  }
}

}  // namespace

int64_t gemm_scratch_bytes(int64_t num_threads) {
  return num_threads * static_cast<int64_t>(sizeof(Scratch));
}

void gemm(Workers& workers, const GemmAlgorithm& algorithm, const bmk_gemm_args& args, void* scratch) {
  const int64_t row_blocks = (args.y.rows + algorithm.block_rows - 1) / algorithm.block_rows;
  const int64_t column_blocks = (args.y.columns + algorithm.block_columns - 1) / algorithm.block_columns;
  parallel_for(workers, row_blocks * column_blocks, [&](int64_t item, int64_t worker) {
    const int64_t first_row = item % row_blocks * algorithm.block_rows;
    const int64_t first_column = item / row_blocks * algorithm.block_columns;
    const Block block{first_row, smaller(algorithm.block_rows, args.y.rows - first_row), first_column,
                      smaller(algorithm.block_columns, args.y.columns - first_column)};
    Scratch& own = static_cast<Scratch*>(scratch)[worker];
    sum_block(own, algorithm, args, block);
    for (int64_t row = 0; row < block.rows; ++row) {
      store_row(args.y.data, (first_row + row) * args.y.row_stride + first_column, block.columns,
                args.y.dtype, own.sums + row * block.stride());
    }
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
