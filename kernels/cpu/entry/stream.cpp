// Streams, events and graphs. Everything queued is done when the call returns, so waiting never waits, and an
// event is the time at which it was recorded.
#include <chrono>

#include "entry/api.hpp"
#include "entry/boundary.hpp"
#include "entry/objects.hpp"

namespace branchmark::cpu {
namespace {

bmk_status stream_create(bmk_device* device, bmk_stream** stream) {
  return guarded([&] {
    require(device, "device");
    require(stream, "stream");
    *stream = nullptr;
    *stream = new bmk_stream{device};
  });
}

void stream_destroy(bmk_stream* stream) {
  delete stream;
}

bmk_status stream_synchronize(bmk_stream* stream) {
  return guarded([&] { require(stream, "stream"); });
}

bmk_status stream_wait_event(bmk_stream* stream, bmk_event* event) {
  return guarded([&] {
    require(stream, "stream");
    require(event, "event");
  });
}

bmk_status event_create(bmk_device* device, bmk_event** event) {
  return guarded([&] {
    require(device, "device");
    require(event, "event");
    *event = nullptr;
    *event = new bmk_event{};
  });
}

void event_destroy(bmk_event* event) {
  delete event;
}

bmk_status event_record(bmk_event* event, bmk_stream* stream) {
  return guarded([&] {
    require(event, "event");
    require(stream, "stream");
    event->recorded = std::chrono::steady_clock::now();
  });
}

bmk_status event_synchronize(bmk_event* event) {
  return guarded([&] { require(event, "event"); });
}

bmk_status event_elapsed_ns(bmk_event* from, bmk_event* to, double* nanoseconds) {
  return guarded([&] {
    require(from, "from");
    require(to, "to");
    require(nanoseconds, "nanoseconds");
    if (!from->recorded || !to->recorded) {
      throw Failure{BMK_INVALID_ARGUMENT,
                    std::string(from->recorded ? "to" : "from") + " is an event that was never recorded"};
    }
    *nanoseconds = std::chrono::duration<double, std::nano>(*to->recorded - *from->recorded).count();
  });
}

[[noreturn]] void refuse_graphs() {
  throw Failure{
      BMK_UNSUPPORTED,
      "the CPU module has no graphs (supports_graphs is 0): run the ops themselves, or switch graphs off"};
}

bmk_status graph_begin(bmk_stream*) {
  return guarded([] { refuse_graphs(); });
}

bmk_status graph_end(bmk_stream*, bmk_graph** graph) {
  return guarded([&] {
    require(graph, "graph");
    *graph = nullptr;
    refuse_graphs();
  });
}

bmk_status graph_launch(bmk_graph*, bmk_stream*) {
  return guarded([] { refuse_graphs(); });
}

void graph_destroy(bmk_graph*) {}

}  // namespace

const bmk_stream_api kStreamApi{
    .struct_size = sizeof(bmk_stream_api),
    .create = stream_create,
    .destroy = stream_destroy,
    .synchronize = stream_synchronize,
    .wait_event = stream_wait_event,
};

const bmk_event_api kEventApi{
    .struct_size = sizeof(bmk_event_api),
    .create = event_create,
    .destroy = event_destroy,
    .record = event_record,
    .synchronize = event_synchronize,
    .elapsed_ns = event_elapsed_ns,
};

const bmk_graph_api kGraphApi{
    .struct_size = sizeof(bmk_graph_api),
    .begin = graph_begin,
    .end = graph_end,
    .launch = graph_launch,
    .destroy = graph_destroy,
};

}  // namespace branchmark::cpu
