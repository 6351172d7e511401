#include "event.hpp"

#include <memory>

#include "validate.hpp"

namespace branchmark::cuda {
namespace {

constexpr double kNanosecondsPerMillisecond = 1e6;

bmk_status event_create(bmk_device* device, bmk_event** event) {
  return guarded([&] {
    require_pointer(event, "event.create: event");
    *event = nullptr;
    activate(device);
    auto created = std::make_unique<bmk_event>();
    created->device = device;
    check(cudaEventCreate(&created->handle), "cudaEventCreate");
    *event = created.release();
  });
}

void event_destroy(bmk_event* event) {
  if (event == nullptr) return;
  check_quietly(cudaEventDestroy(event->handle));
  delete event;
}

bmk_status event_record(bmk_event* event, bmk_stream* stream) {
  return guarded([&] {
    require_pointer(event, "event.record: event");
    check(cudaEventRecord(event->handle, activate(stream)), "cudaEventRecord");
  });
}

bmk_status event_synchronize(bmk_event* event) {
  return guarded([&] {
    require_pointer(event, "event.synchronize: event");
    activate(event->device);
    check(cudaEventSynchronize(event->handle), "cudaEventSynchronize");
  });
}

bmk_status event_elapsed_ns(bmk_event* from, bmk_event* to, double* nanoseconds) {
  return guarded([&] {
    require_pointer(from, "event.elapsed_ns: from");
    require_pointer(to, "event.elapsed_ns: to");
    require_pointer(nanoseconds, "event.elapsed_ns: nanoseconds");
    activate(from->device);
    float milliseconds = 0.0f;
    check(cudaEventElapsedTime(&milliseconds, from->handle, to->handle), "cudaEventElapsedTime");
    *nanoseconds = static_cast<double>(milliseconds) * kNanosecondsPerMillisecond;
  });
}

}  // namespace

const bmk_event_api kEventApi = {sizeof(bmk_event_api), event_create,      event_destroy,
                                 event_record,          event_synchronize, event_elapsed_ns};

}  // namespace branchmark::cuda
