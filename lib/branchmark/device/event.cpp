#include "branchmark/device/event.hpp"

#include <utility>

namespace branchmark {

Event::Event(std::shared_ptr<Context> context) : context_(std::move(context)) {
  context_->call("event.create", context_->table().event->create, context_->device(), &event_);
}

Event::~Event() {
  if (event_ == nullptr) return;
  ++context_->counters().calls;
  context_->table().event->destroy(event_);
}

Event::Event(Event&& other) noexcept
    : context_(std::move(other.context_)), event_(std::exchange(other.event_, nullptr)) {}

void Event::record() {
  context_->call("event.record", context_->table().event->record, event_, context_->stream());
}

void Event::synchronize() {
  context_->call("event.synchronize", context_->table().event->synchronize, event_);
}

double Event::elapsed_ns_since(const Event& earlier) const {
  double nanoseconds = 0;
  context_->call("event.elapsed_ns", context_->table().event->elapsed_ns, earlier.event_, event_,
                 &nanoseconds);
  return nanoseconds;
}

}  // namespace branchmark
