#include "class_proof.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "compare_rows.hpp"

namespace branchmark::cuda {
namespace {

// Below, at and above the tiles of every algorithm; one tile and many. The largest is the reference's own
// size.
constexpr std::array<std::int64_t, 7> kProofRows = {1, 17, 64, 100, 257, 1024, 4096};
// Only the first kind of data goes to the largest, which takes most of the time.
constexpr std::int64_t kLaterKindRows = 1024;
constexpr std::int64_t kDigestRows = 256;
// What a member is tried at again, the first of these that it serves.
constexpr std::array<std::int64_t, 5> kAgainRows = {kDigestRows, 100, 64, 17, 1};
constexpr int kNaNByte = 0xFF;  // twice, a NaN in bf16

static_assert(kDigestRows <= ProvingGround::kMinRows / 2, "the smallest ground holds the digest's rows");

// Flags and digest on the device, read once all work is done.
class Verdicts {
 public:
  Verdicts(std::size_t num_algorithms, cudaStream_t stream)
      : num_algorithms_(num_algorithms), stream_(stream), buffer_(static_cast<std::int64_t>(bytes())) {
    check(cudaMemsetAsync(buffer_.data(), 0, bytes(), stream), "cudaMemsetAsync");
  }

  std::uint64_t* digest() const noexcept { return static_cast<std::uint64_t*>(buffer_.data()); }
  std::int32_t* differs(std::size_t algorithm) const noexcept {
    return reinterpret_cast<std::int32_t*>(digest() + 1) + algorithm;
  }

  // Synchronises.
  void read() {
    flags_.resize(num_algorithms_);
    check(cudaMemcpyAsync(&digest_value_, digest(), sizeof digest_value_, cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
    check(cudaMemcpyAsync(flags_.data(), differs(0), num_algorithms_ * sizeof(std::int32_t),
                          cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }
  bool differed(std::size_t algorithm) const { return flags_[algorithm] != 0; }
  std::string digest_text() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest_value_));
    return text;
  }

 private:
  std::size_t bytes() const noexcept {
    return sizeof(std::uint64_t) + num_algorithms_ * sizeof(std::int32_t);
  }

  std::size_t num_algorithms_;
  cudaStream_t stream_;
  DeviceBuffer buffer_;
  std::vector<std::int32_t> flags_;
  std::uint64_t digest_value_ = 0;
};

// Queues the contestant over NaNs and its comparison with the reference. False where it refuses to run.
bool queue_comparison(ProvingGround& ground, const Problem& problem, const Algorithm& algorithm,
                      std::int32_t* differs) {
  const bmk_gemm_shape& shape = ground.shape();
  const cudaStream_t stream = ground.stream()->handle;
  const auto bytes = static_cast<std::size_t>(problem.rows() * shape.y_stride) * sizeof(std::uint16_t);
  check(cudaMemsetAsync(ground.output(), kNaNByte, bytes, stream), "cudaMemsetAsync");
  try {
    ground.multiply(problem, algorithm, ground.output());
  } catch (const Failure& failure) {
    if (failure.status() == BMK_DEVICE_LOST) throw;
    return false;
  }
  compare_rows(ground.reference(), ground.output(), problem.rows(), shape.n, shape.y_stride, differs, stream);
  return true;
}

// The largest row count of the proof that is at most `limit` and that the fixed algorithm serves.
std::int64_t reference_rows(const ProvingGround& ground, const Algorithm& fixed, std::int64_t limit) {
  for (auto rows = kProofRows.rbegin(); rows != kProofRows.rend(); ++rows)
    if (*rows <= limit && serves(ground.context(), Problem(ground.shape(), *rows), fixed)) return *rows;
  fail(BMK_UNSERVED_SIZE, "the fixed GEMM algorithm (" + fixed.fingerprint +
                              ") serves no row count of the proof, N = " + std::to_string(ground.shape().n) +
                              ", K = " + std::to_string(ground.shape().k));
}

}  // namespace

ClassProof prove_class(ProvingGround& ground, std::span<Algorithm> candidates) {
  const cudaStream_t stream = ground.stream()->handle;
  const bmk_gemm_shape& shape = ground.shape();
  const Algorithm& fixed = candidates.front();
  Verdicts verdicts(candidates.size(), stream);
  std::vector<bool> ran(candidates.size(), false);
  std::vector<bool> refused(candidates.size(), false);

  for (int kind = 0; kind < ProvingGround::kNumKinds; ++kind) {
    ground.fill(kind);
    const std::int64_t limit =
        kind == 0 ? ground.max_proof_rows() : std::min(ground.max_proof_rows(), kLaterKindRows);
    const std::int64_t most = reference_rows(ground, fixed, limit);
    ground.multiply(Problem(shape, most), fixed, ground.reference());
    if (kind == 0)
      digest_rows(ground.reference(), std::min(most, kDigestRows), shape.n, shape.y_stride, verdicts.digest(),
                  stream);
    for (const std::int64_t rows : kProofRows) {
      if (rows > most) break;
      const Problem problem(shape, rows);
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (refused[i] || !serves(ground.context(), problem, candidates[i])) continue;
        ran[i] = queue_comparison(ground, problem, candidates[i], verdicts.differs(i));
        refused[i] = !ran[i];
      }
    }
  }
  verdicts.read();

  const bool fixed_holds = !verdicts.differed(0) && ran[0];
  for (std::size_t i = 1; i < candidates.size(); ++i)
    candidates[i].in_class = fixed_holds && ran[i] && !refused[i] && !verdicts.differed(i);
  candidates.front().in_class = true;
  return {verdicts.digest_text(), fixed_holds};
}

bool reprove_class(ProvingGround& ground, std::span<const Algorithm> candidates,
                   std::span<const std::int64_t> members, const std::string& digest) {
  const cudaStream_t stream = ground.stream()->handle;
  const bmk_gemm_shape& shape = ground.shape();
  const Problem problem(shape, kDigestRows);
  if (!serves(ground.context(), problem, candidates.front())) return false;
  Verdicts verdicts(candidates.size(), stream);
  ground.fill(0);
  ground.multiply(problem, candidates.front(), ground.reference());
  digest_rows(ground.reference(), kDigestRows, shape.n, shape.y_stride, verdicts.digest(), stream);
  ground.fill(ProvingGround::kCancelling);
  ground.multiply(problem, candidates.front(), ground.reference());
  for (const std::int64_t member : members) {
    const auto i = static_cast<std::size_t>(member);
    const auto rows = std::find_if(kAgainRows.begin(), kAgainRows.end(), [&](std::int64_t count) {
      return serves(ground.context(), Problem(shape, count), candidates[i]);
    });
    if (rows == kAgainRows.end()) return false;
    if (!queue_comparison(ground, Problem(shape, *rows), candidates[i], verdicts.differs(i))) return false;
  }
  verdicts.read();
  return verdicts.digest_text() == digest &&
         std::none_of(members.begin(), members.end(), [&](std::int64_t member) {
           return verdicts.differed(static_cast<std::size_t>(member));
         });
}

}  // namespace branchmark::cuda
