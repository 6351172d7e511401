// Proving, on the device at hand, which algorithms give the bits of the fixed one, and timing those that do.
//
// The vendor documents neither, so that both are measured. Everything here queues work, waits for it, and
// allocates temporary device memory; none of it runs inside `run`.
#pragma once

#include <span>

#include "shape_plan.hpp"

namespace branchmark::cuda {

// Operands of one shape and room for outputs, freed with the object.
class ProvingGround {
 public:
  // Rows that the buffers hold: kMaxRows, halved until they fit into free memory, at least kMinRows.
  ProvingGround(const LtContext& context, const bmk_gemm_shape& shape, bmk_stream* stream);

  static constexpr std::int64_t kMaxRows = 8192;
  static constexpr std::int64_t kMinRows = 512;
  // Kinds of data: independent random numbers of three distributions, then such whose products cancel. The
  // sum of the first half of a row's products is followed by the same with turned signs, so that nothing but
  // the noise of rounding is left, in which another order of accumulation shows in almost every output.
  static constexpr int kNumKinds = 4;
  static constexpr int kCancelling = 3;

  const LtContext& context() const noexcept { return context_; }
  const bmk_gemm_shape& shape() const noexcept { return shape_; }
  bmk_stream* stream() const noexcept { return stream_; }
  std::int64_t max_rows() const noexcept { return max_rows_; }
  // The output buffer is cut into halves for a proof, one for the reference and one for the contestant.
  std::int64_t max_proof_rows() const noexcept { return max_rows_ / 2; }
  void* reference() const noexcept { return y_.data(); }
  void* output() const noexcept;

  // Queues the operands of one of kNumKinds kinds of data.
  void fill(int kind);
  // Queues x[0..rows) · wᵀ into `y`, one of the two halves or the whole buffer.
  void multiply(const Problem& problem, const Algorithm& algorithm, void* y);
  // Queues a write over more memory than the last-level cache holds: weights are cold in a model.
  void flush_cache();

 private:
  void allocate(std::int64_t rows);

  const LtContext& context_;
  bmk_gemm_shape shape_;
  bmk_stream* stream_;
  std::int64_t max_rows_ = 0;
  std::int64_t flush_bytes_ = 0;
  DeviceBuffer x_;
  DeviceBuffer w_;
  DeviceBuffer y_;
  DeviceBuffer flush_;
};

struct ClassProof {
  std::string digest;       // of the fixed algorithm's first rows on the first kind of data
  bool fixed_holds = true;  // the fixed algorithm's rows did not depend on the number of rows
};

// Marks each candidate that gives the bits of the fixed one (the first) at every row count of the proof that
// it serves, on every kind of data, over outputs filled with NaNs. Where the fixed one does not even agree
// with itself, it stands alone.
ClassProof prove_class(ProvingGround& ground, std::span<Algorithm> candidates);

// One M again, of each the largest of a few that it serves: whether the fixed algorithm still gives `digest`,
// and each of `members` still its bits on data that cancel.
bool reprove_class(ProvingGround& ground, std::span<const Algorithm> candidates,
                   std::span<const std::int64_t> members, const std::string& digest);

// The fastest member at `rows`, among those that the heuristics put first there, the module's own kernels,
// the fixed one and `previous` (the choice at the bound before). Index into `candidates`. Operands must be
// filled.
std::int64_t fastest_member(ProvingGround& ground, std::span<const Algorithm> candidates, std::int64_t rows,
                            std::int64_t previous);

}  // namespace branchmark::cuda
