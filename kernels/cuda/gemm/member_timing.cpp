// How the fastest member of a class is found for a number of rows.
//
// The heuristics order the members well but not perfectly, so that their first few are timed, and the closest
// of those again; of the module's own kernels, which the heuristics do not know, all that serve. Contestants
// take turns, so that a change of clock meets all of them alike. Each product starts with a cold cache,
// behind a memset that also hides the time of its launch.
#include <algorithm>

#include "class_proof.hpp"

namespace branchmark::cuda {
namespace {

constexpr std::size_t kMaxOffered = 14;
constexpr int kOffers = 64;
constexpr int kFirstRounds = 2;
constexpr int kFinalRounds = 5;
constexpr std::size_t kMaxFinalists = 5;
constexpr double kFinalistMargin = 0.08;

class Event {
 public:
  Event() { check(cudaEventCreate(&handle_), "cudaEventCreate"); }
  Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (handle_ != nullptr) check_quietly(cudaEventDestroy(handle_));
  }

  void record(cudaStream_t stream) { check(cudaEventRecord(handle_, stream), "cudaEventRecord"); }
  double milliseconds_since(const Event& start) const {
    float milliseconds = 0.0f;
    check(cudaEventElapsedTime(&milliseconds, start.handle_, handle_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t handle_ = nullptr;
};

std::vector<Timing> pick_contestants(const ProvingGround& ground, std::span<const Algorithm> candidates,
                                     const Problem& problem, std::int64_t previous) {
  std::vector<Timing> picked;
  const auto pick = [&](std::int64_t index) {
    const Algorithm& algorithm = candidates[static_cast<std::size_t>(index)];
    const bool is_new = std::none_of(picked.begin(), picked.end(),
                                     [&](const Timing& timing) { return timing.algorithm == index; });
    if (is_new && algorithm.in_class && serves(ground.context(), problem, algorithm))
      picked.push_back({index, {}});
  };
  pick(0);
  pick(previous);
  for (const Algorithm& offer : offered_algorithms(ground.context(), problem, SplitK::kForbidden, kOffers)) {
    if (picked.size() >= kMaxOffered) break;
    const auto known = std::find_if(candidates.begin(), candidates.end(), [&](const Algorithm& algorithm) {
      return algorithm.fingerprint == offer.fingerprint;
    });
    if (known != candidates.end()) pick(known - candidates.begin());
  }
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].few_rows) pick(static_cast<std::int64_t>(i));
  return picked;
}

// Adds `rounds` times to each contestant. Synchronises.
void time_rounds(ProvingGround& ground, std::span<const Algorithm> candidates, const Problem& problem,
                 int rounds, std::vector<Timing>& contestants) {
  const cudaStream_t stream = ground.stream()->handle;
  struct Interval {
    Event start;
    Event end;
  };
  std::vector<Interval> intervals(static_cast<std::size_t>(rounds) * contestants.size());
  std::size_t next = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const Timing& contestant : contestants) {
      Interval& interval = intervals[next++];
      ground.flush_cache();
      interval.start.record(stream);
      ground.multiply(problem, candidates[static_cast<std::size_t>(contestant.algorithm)],
                      ground.reference());
      interval.end.record(stream);
    }
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  for (std::size_t i = 0; i < intervals.size(); ++i)
    contestants[i % contestants.size()].times_ms.push_back(
        intervals[i].end.milliseconds_since(intervals[i].start));
}

}  // namespace

std::int64_t fastest_member(ProvingGround& ground, std::span<const Algorithm> candidates, std::int64_t rows,
                            std::int64_t previous) {
  const Problem problem(ground.shape(), rows);
  std::vector<Timing> contestants = pick_contestants(ground, candidates, problem, previous);
  if (contestants.empty()) return 0;
  if (contestants.size() == 1) return contestants.front().algorithm;
  // The first launch of an algorithm loads its code.
  for (const Timing& contestant : contestants)
    ground.multiply(problem, candidates[static_cast<std::size_t>(contestant.algorithm)], ground.reference());
  time_rounds(ground, candidates, problem, kFirstRounds, contestants);
  std::vector<Timing> finalists;
  for (const std::size_t i : front_runners(contestants, kFinalistMargin, kMaxFinalists))
    finalists.push_back(std::move(contestants[i]));
  time_rounds(ground, candidates, problem, kFinalRounds, finalists);
  return fastest(finalists);
}

}  // namespace branchmark::cuda
