// The CPU module with graphs, and with failures of its own, for tests of what stands above a module.
//
// What is queued on a stream between begin and end is kept and not run; a launch runs it, with what then lies
// in device memory. Host arrays of the arguments are copied, as a real recording would bake them in. Where
// the environment variable BRANCHMARK_TEST_KERNELS names another module, that one is wrapped, with its own
// graphs if it has them. BRANCHMARK_TEST_FAULT names a fault, and is read at each call:
//   graph_begin, graph_end   that call fails
//   recorded_op              silu_mul fails while a stream is being recorded
//   failed_op                silu_mul fails
//   no_memory                memory_info reports that 1,000 bytes are free
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "branchmark/kernels.h"

using Work = std::function<bmk_status(bmk_stream*)>;

struct bmk_graph {
  std::vector<Work> work;
};

namespace {

constexpr std::int64_t kFewBytes = 1000;

const bmk_kernels* real() {
  static const bmk_kernels* const table = []() -> const bmk_kernels* {
    const char* other = std::getenv("BRANCHMARK_TEST_KERNELS");
    void* library = dlopen(other == nullptr ? BRANCHMARK_CPU_MODULE : other, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    void* symbol = dlsym(library, BMK_ENTRY_POINT);
    return symbol == nullptr ? nullptr : reinterpret_cast<bmk_entry_point>(symbol)();
  }();
  return table;
}

// Whether the wrapped module records by itself.
bool has_graphs() {
  static const bool answer = [] {
    bmk_device_info info{};
    info.struct_size = sizeof info;
    return real()->device->describe(0, &info) == BMK_OK && info.supports_graphs != 0;
  }();
  return answer;
}

bool has_fault(std::string_view name) {
  const char* fault = std::getenv("BRANCHMARK_TEST_FAULT");
  return fault != nullptr && name == fault;
}

thread_local bool own_error_is_last = false;

const char* last_error() {
  return own_error_is_last ? "injected failure" : real()->last_error();
}

bmk_status passed_on(bmk_status status) {
  own_error_is_last = false;
  return status;
}

bmk_status injected() {
  own_error_is_last = true;
  return BMK_FAILED;
}

// ------------------------------------------------------------------------------------------------ recording

std::mutex mutex;
std::map<bmk_stream*, bmk_graph*> recordings;

bmk_graph* recording_of(bmk_stream* stream) {
  const std::scoped_lock lock(mutex);
  const auto found = recordings.find(stream);
  return found == recordings.end() ? nullptr : found->second;
}

bmk_status run_or_keep(bmk_stream* stream, Work work) {
  auto* graph = recording_of(stream);
  if (graph == nullptr || has_graphs()) return passed_on(work(stream));
  graph->work.push_back(std::move(work));
  return BMK_OK;
}

template <class Args>
concept HasSequences = requires(Args args) {
  args.sequences.host_row_offsets;
};

template <class Args, bmk_status (*bmk_ops_api::*Op)(bmk_stream*, const Args*)>
bmk_status op(bmk_stream* stream, const Args* args) {
  if constexpr (HasSequences<Args>) {
    const auto& sequences = args->sequences;
    const auto count = sequences.num_sequences;
    std::vector<std::int64_t> rows(sequences.host_row_offsets, sequences.host_row_offsets + count + 1);
    std::vector<std::int64_t> first(sequences.host_first_position, sequences.host_first_position + count);
    return run_or_keep(stream,
                       [copy = *args, rows = std::move(rows), first = std::move(first)](bmk_stream* s) {
                         auto with_arrays = copy;
                         with_arrays.sequences.host_row_offsets = rows.data();
                         with_arrays.sequences.host_first_position = first.data();
                         return (real()->ops->*Op)(s, &with_arrays);
                       });
  } else {
    return run_or_keep(stream, [copy = *args](bmk_stream* s) { return (real()->ops->*Op)(s, &copy); });
  }
}

bmk_status silu_mul(bmk_stream* stream, const bmk_silu_mul_args* args) {
  if (has_fault("failed_op") || (has_fault("recorded_op") && recording_of(stream) != nullptr))
    return injected();
  return op<bmk_silu_mul_args, &bmk_ops_api::silu_mul>(stream, args);
}

bmk_status gemm_run(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args) {
  return run_or_keep(stream,
                     [gemm, copy = *args](bmk_stream* s) { return real()->gemm->run(gemm, s, &copy); });
}

void destroy(bmk_graph* graph) {
  if (has_graphs())
    real()->graph->destroy(graph);
  else
    delete graph;
}

bmk_status begin(bmk_stream* stream) {
  if (has_fault("graph_begin")) return injected();
  const std::scoped_lock lock(mutex);
  if (!recordings.emplace(stream, new bmk_graph).second) return injected();
  return has_graphs() ? passed_on(real()->graph->begin(stream)) : BMK_OK;
}

bmk_status end(bmk_stream* stream, bmk_graph** graph) {
  const std::scoped_lock lock(mutex);
  *graph = nullptr;
  const auto found = recordings.find(stream);
  if (found == recordings.end()) return injected();
  *graph = found->second;
  recordings.erase(found);
  bmk_status status = BMK_OK;
  if (has_graphs()) {
    delete std::exchange(*graph, nullptr);
    status = passed_on(real()->graph->end(stream, graph));
  }
  if (!has_fault("graph_end")) return status;
  if (*graph != nullptr) destroy(std::exchange(*graph, nullptr));
  return injected();
}

bmk_status launch(bmk_graph* graph, bmk_stream* stream) {
  if (has_graphs()) return passed_on(real()->graph->launch(graph, stream));
  for (const auto& work : graph->work)
    if (const auto status = work(stream); status != BMK_OK) return passed_on(status);
  return BMK_OK;
}

// --------------------------------------------------------------------------------------------------- device

bmk_status describe(std::int64_t index, bmk_device_info* info) {
  const auto status = real()->device->describe(index, info);
  if (status == BMK_OK) info->supports_graphs = 1;
  return passed_on(status);
}

bmk_status memory_info(bmk_device* device, std::int64_t* free_bytes, std::int64_t* total_bytes) {
  const auto status = real()->device->memory_info(device, free_bytes, total_bytes);
  if (has_fault("no_memory")) *free_bytes = kFewBytes;
  return passed_on(status);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const bmk_kernels* branchmark_kernels(void) {
  if (real() == nullptr) return nullptr;
  static const bmk_device_api device = [] {
    auto api = *real()->device;
    api.describe = describe;
    api.memory_info = memory_info;
    return api;
  }();
  static const bmk_graph_api graph = {sizeof(bmk_graph_api), begin, end, launch, destroy};
  static const bmk_gemm_api gemm = [] {
    auto api = *real()->gemm;
    api.run = gemm_run;
    return api;
  }();
  static const bmk_ops_api ops = [] {
    auto api = *real()->ops;
    api.embed = op<bmk_embed_args, &bmk_ops_api::embed>;
    api.gather_rows = op<bmk_index_rows_args, &bmk_ops_api::gather_rows>;
    api.rms_norm = op<bmk_rms_norm_args, &bmk_ops_api::rms_norm>;
    api.add_rms_norm = op<bmk_add_rms_norm_args, &bmk_ops_api::add_rms_norm>;
    api.gated_rms_norm = op<bmk_gated_rms_norm_args, &bmk_ops_api::gated_rms_norm>;
    api.conv = op<bmk_conv_args, &bmk_ops_api::conv>;
    api.gdn_gates = op<bmk_gdn_gates_args, &bmk_ops_api::gdn_gates>;
    api.gdn_prefill = op<bmk_gdn_prefill_args, &bmk_ops_api::gdn_prefill>;
    api.attention_prepare = op<bmk_attention_prepare_args, &bmk_ops_api::attention_prepare>;
    api.gated_attention = op<bmk_gated_attention_args, &bmk_ops_api::gated_attention>;
    api.silu_mul = silu_mul;
    return api;
  }();
  static const bmk_kernels table = [] {
    auto with_graphs = *real();
    with_graphs.name = "cpu-graphs";
    with_graphs.last_error = last_error;
    with_graphs.device = &device;
    with_graphs.graph = &graph;
    with_graphs.gemm = &gemm;
    with_graphs.ops = &ops;
    return with_graphs;
  }();
  return &table;
}
