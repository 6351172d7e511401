#include "graph.hpp"

#include <memory>
#include <type_traits>

#include "validate.hpp"

namespace branchmark::cuda {
namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const noexcept { check_quietly(cudaGraphDestroy(graph)); }
};
using OwnedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

// Thread-local mode: another thread may allocate or synchronise meanwhile, this one may not.
bmk_status graph_begin(bmk_stream* stream) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    if (stream->recording) fail(BMK_INVALID_ARGUMENT, "graph.begin: the stream is being recorded already");
    check(cudaStreamBeginCapture(queue, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    stream->recording = true;
    stream->failures_at_begin = num_failures();
  });
}

bmk_status graph_end(bmk_stream* stream, bmk_graph** graph) {
  return guarded([&] {
    require_pointer(graph, "graph.end: graph");
    *graph = nullptr;
    const cudaStream_t queue = activate(stream);
    if (!stream->recording) fail(BMK_INVALID_ARGUMENT, "graph.end: the stream is not being recorded");
    stream->recording = false;
    cudaGraph_t captured = nullptr;
    const cudaError_t error = cudaStreamEndCapture(queue, &captured);
    const OwnedGraph recorded(captured);
    // An op that was refused before it reached the stream leaves a hole that CUDA does not see.
    if (num_failures() != stream->failures_at_begin) {
      check_quietly(error);
      fail(BMK_FAILED, std::string("graph.end: a call during the recording failed: ") + last_error());
    }
    check(error, "cudaStreamEndCapture");
    auto created = std::make_unique<bmk_graph>();
    created->device = stream->device;
    check(cudaGraphInstantiate(&created->executable, recorded.get(), 0), "cudaGraphInstantiate");
    *graph = created.release();
  });
}

bmk_status graph_launch(bmk_graph* graph, bmk_stream* stream) {
  return guarded([&] {
    require_pointer(graph, "graph.launch: graph");
    check(cudaGraphLaunch(graph->executable, activate(stream)), "cudaGraphLaunch");
  });
}

void graph_destroy(bmk_graph* graph) {
  if (graph == nullptr) return;
  check_quietly(cudaGraphExecDestroy(graph->executable));
  delete graph;
}

}  // namespace

const bmk_graph_api kGraphApi = {sizeof(bmk_graph_api), graph_begin, graph_end, graph_launch, graph_destroy};

}  // namespace branchmark::cuda
