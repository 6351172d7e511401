// Packed sequences as the ops see them: the checks of a caller's bmk_sequences, and how a block finds the
// sequence that its chunk belongs to.
#pragma once

#include "common.cuh"

namespace branchmark::cuda {

// Sizes agree and every array is there. What the device arrays hold is the caller's to get right.
inline void require_sequences(const bmk_sequences& sequences, std::int64_t rows) {
  require_at_least(sequences.num_sequences, 0, "sequences.num_sequences");
  require_equal(sequences.num_rows, rows, "sequences.num_rows");
  require_at_least(sequences.num_chunks, ceil_div(rows, BMK_CHUNK_TOKENS), "sequences.num_chunks");
  if (sequences.num_sequences == 0) {
    require_equal(rows, 0, "rows without a sequence");
    return;
  }
  require_pointer(sequences.row_offsets, "sequences.row_offsets");
  require_pointer(sequences.first_position, "sequences.first_position");
  require_pointer(sequences.chunk_offsets, "sequences.chunk_offsets");
  if (rows > 0) require_pointer(sequences.sequence_of_row, "sequences.sequence_of_row");
}

// A run of at most 64 rows of one sequence, which begins at a multiple of 64 of its prompt's positions.
struct ChunkPlace {
  std::int64_t sequence;
  std::int64_t index;      // among the sequence's own chunks
  std::int64_t first_row;  // among the packed rows
  int rows;                // 1..64
};

// For all threads of a warp together. `chunk` counts over all sequences; those without rows own none. The
// search reads every offset, 32 at a time, because reads that wait for one another would cost a block more
// than the arithmetic of a small chunk.
__device__ __forceinline__ ChunkPlace find_chunk(const bmk_sequences& sequences, std::int64_t chunk) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  std::int64_t sequence = 0;
  for (std::int64_t first = 0; first < sequences.num_sequences; first += kWarpThreads) {
    const std::int64_t candidate = first + lane;
    const bool ends_before =
        candidate < sequences.num_sequences && sequences.chunk_offsets[candidate + 1] <= chunk;
    sequence += __popc(__ballot_sync(kFullWarp, ends_before));
  }
  ChunkPlace place;
  place.sequence = sequence;
  place.index = chunk - sequences.chunk_offsets[sequence];
  place.first_row = sequences.row_offsets[sequence] + place.index * BMK_CHUNK_TOKENS;
  const std::int64_t left = sequences.row_offsets[sequence + 1] - place.first_row;
  place.rows = left < BMK_CHUNK_TOKENS ? static_cast<int>(left) : BMK_CHUNK_TOKENS;
  return place;
}

}  // namespace branchmark::cuda
