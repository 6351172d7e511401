#include "stream.hpp"

#include <memory>

#include "event.hpp"
#include "validate.hpp"

namespace branchmark::cuda {
namespace {

bmk_status stream_create(bmk_device* device, bmk_stream** stream) {
  return guarded([&] {
    require_pointer(stream, "stream.create: stream");
    *stream = nullptr;
    activate(device);
    auto created = std::make_unique<bmk_stream>();
    created->device = device;
    // Not ordered with the default stream, which nothing here uses.
    check(cudaStreamCreateWithFlags(&created->handle, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    *stream = created.release();
  });
}

void stream_destroy(bmk_stream* stream) {
  if (stream == nullptr) return;
  check_quietly(cudaStreamDestroy(stream->handle));
  delete stream;
}

bmk_status stream_synchronize(bmk_stream* stream) {
  return guarded([&] { check(cudaStreamSynchronize(activate(stream)), "cudaStreamSynchronize"); });
}

bmk_status stream_wait_event(bmk_stream* stream, bmk_event* event) {
  return guarded([&] {
    require_pointer(event, "stream.wait_event: event");
    check(cudaStreamWaitEvent(activate(stream), event->handle, cudaEventWaitDefault), "cudaStreamWaitEvent");
  });
}

}  // namespace

cudaStream_t activate(const bmk_stream* stream) {
  require_pointer(stream, "stream");
  activate(stream->device);
  return stream->handle;
}

const bmk_stream_api kStreamApi = {sizeof(bmk_stream_api), stream_create, stream_destroy, stream_synchronize,
                                   stream_wait_event};

}  // namespace branchmark::cuda
