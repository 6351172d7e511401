// Where the device's time of a call goes, by stage.
//
// Two events stand at every change of stage: one ends the stage that was, one begins the next. What the
// events themselves cost the device falls between the two and into no stage. What a stage pays for standing
// alone, because its first op cannot begin while the op before drains, is measured beforehand with the
// smallest of ops and taken off. So the stages add up to the time of a call without events, as nearly as that
// can be had; what is left of that time belongs to no op and is named gaps. Ops of one stage that follow each
// other are timed as one.
//   gemm         the projections
//   gdn          convolution, gates, prefill, gated norm
//   attention    norm and rotary of query and key, attention
//   elementwise  embedding, residual and norms, SiLU·up, gathering the result rows
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "branchmark/bench/call_timer.hpp"
#include "branchmark/model/observer.hpp"

namespace branchmark {

enum class Stage { gemm, gdn, attention, elementwise };
inline constexpr std::size_t kNumStages = 4;
std::string_view name_of(Stage stage);

// The stage that an observed op ends; `mark` is false inside a stage.
struct StageMark {
  Stage stage = Stage::gemm;
  bool ends_here = false;
};
StageMark stage_mark(std::string_view op);

struct StageTimes {
  std::array<double, kNumStages> ns = {};
  double whole_ns = 0;       // of the observed call, events included
  bool made_events = false;  // which slowed queueing down

  double sum_ns() const;
};

// Both observer and hook of one call.
class StageTimer final : public PassObserver, public PassHook {
 public:
  StageTimer(std::shared_ptr<Context> context, StreamFiller& filler);

  // Before the calls of a workload, with `filler_ns` of other work ahead of each of their passes: forgets
  // what a call that failed has left and, on a GPU, measures the price of a seam at the clocks that it has by
  // now. Synchronises.
  void start(double filler_ns);

  void before_pass(Context& context) override;
  void begin_pass(const std::vector<RunRows>& runs) override;
  bool wants(std::int64_t layer, std::string_view op) const override;
  void observe(Context& context, std::int64_t layer, std::string_view op, const bmk_matrix& out) override;
  void after_pass(Context& context) override;

  // Of everything since the last call to this; the stream must have passed it.
  StageTimes take();

 private:
  struct Span {
    Stage stage;
    std::size_t begin;  // indices of events
    std::size_t end;
  };
  std::size_t record();
  void forget();
  void end_stage(Stage stage);

  std::shared_ptr<Context> context_;
  StreamFiller& filler_;
  double filler_ns_ = 0;
  double seam_ns_ = 0;         // what a stage pays for standing between events
  std::vector<Event> events_;  // kept from call to call
  std::size_t num_events_ = 0;
  bool made_events_ = false;
  std::vector<Span> stages_;
  std::vector<std::pair<std::size_t, std::size_t>> passes_;
  std::size_t stage_begin_ = 0;
};

}  // namespace branchmark
