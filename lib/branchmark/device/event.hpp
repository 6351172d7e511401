// Owner of one event of a module: a point of a stream, with its time.
#pragma once

#include <memory>

#include "branchmark/device/context.hpp"

namespace branchmark {

// Move-only; destruction is silent.
class Event {
 public:
  explicit Event(std::shared_ptr<Context> context);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;

  // Queues the event on the context's stream; does not wait. Recording again moves it.
  void record();
  // Waits until the stream has passed it.
  void synchronize();
  // Nanoseconds from `earlier` to this one, by the device's clock. The stream must have passed both.
  double elapsed_ns_since(const Event& earlier) const;

 private:
  std::shared_ptr<Context> context_;
  bmk_event* event_ = nullptr;
};

}  // namespace branchmark
