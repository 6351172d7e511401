// Times a call of the model twice over: by the host's clock from call to return, and by events of the device
// around each of its passes.
//
// The two answer different questions. Wall time is what a caller waits for: preparing the inputs, launching
// op after op, copying the result back. Device time is what the device needs for the work. Taken on an idle
// stream, events would measure launching as well, since the first op starts as soon as it is queued and the
// device then waits for the host between ops; that time is in the wall time already. So the device's time is
// taken in a call of its own, in which each pass finds the stream kept busy: filler work goes ahead of the
// first event and lasts until the host has queued the pass. (Inputs of several thousand rows are more than
// the driver stages at once: the host then waits for the filler, and the pass begins on an idle stream.
// Passes of that length keep ahead of the host by themselves.) A CPU module runs each op when it is queued:
// there is nothing to keep busy, and one call gives both times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/device/event.hpp"
#include "branchmark/model/pass_hook.hpp"

namespace branchmark {

// Work that keeps a stream busy for a time: fills of one large buffer, whose pace is measured once. It also
// leaves nothing of weights or activations in the L2 cache.
class StreamFiller {
 public:
  // Allocates the buffer and measures; synchronises. On a CPU it is empty and does nothing.
  explicit StreamFiller(std::shared_ptr<Context> context);

  bool empty() const { return buffer_.bytes() == 0; }
  std::int64_t bytes() const { return buffer_.bytes(); }
  // Queues fills that last for at least so long, up to a cap.
  void occupy(double ns);

 private:
  std::shared_ptr<Context> context_;
  DeviceBuffer buffer_;
  double ns_per_fill_ = 0;
};

struct CallTime {
  double wall_ns = 0;
  double device_ns = 0;  // between the events of each pass, summed over the passes
  double queue_ns = 0;   // that the host needed to queue the pass that took longest
};

// Used by one thread, for calls that are given it as their hook.
class CallTimer final : public PassHook {
 public:
  using Call = std::function<void(PassHook* hook)>;

  CallTimer(std::shared_ptr<Context> context, StreamFiller& filler);

  // The call as a caller sees it, on an idle stream.
  CallTime as_found(const Call& call);
  // The same with each pass behind `filler_ns` of other work: of the result, the device's time counts.
  // `meanwhile`, where given, runs on the host after the last op of each pass is queued, while the device is
  // at work.
  CallTime kept_busy(const Call& call, double filler_ns, const std::function<void()>& meanwhile = {});

  // The filler that covers a call whose passes take `queue_ns` to queue.
  static double filler_for(double queue_ns);

  void before_pass(Context& context) override;
  void after_pass(Context& context) override;

 private:
  struct PassEvents {
    Event begin;
    Event end;
  };
  CallTime run(const Call& call);

  std::shared_ptr<Context> context_;
  StreamFiller& filler_;
  std::vector<PassEvents> events_;  // kept from call to call
  std::size_t num_passes_ = 0;      // of the present call
  double filler_ns_ = 0;
  std::function<void()> meanwhile_;
  double queue_began_ns_ = 0;
  double queue_ns_ = 0;
};

// The host's monotonic clock.
double now_ns();

}  // namespace branchmark
