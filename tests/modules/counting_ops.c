/* The CPU module with graphs (graph_ops.cpp), counted: every call, what is live, what is queued; and one call
 * that fails. For tests of what stands above a module: that a refusal calls nothing, and that a failure of
 * any call leaves nothing behind. Tests read and set it through counting_ops.h; for a program of its own the
 * environment variable BRANCHMARK_TEST_FAIL_CALL, read at loading, holds n or n:status for the call to fail.
 */
#include "counting_ops.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "counting_record.h"

static const bmk_kernels* real;

/* Counts the call and leaves it with the injected status, if it is the one that is to fail. */
#define ENTER(entry)                                 \
  const bmk_status injected = counting_enter(entry); \
  if (injected != BMK_OK) return injected

static const char* last_error(void) {
  const char* failure = counting_failure();
  return failure != NULL ? failure : real->last_error();
}

static bmk_status queued(bmk_status status, const bmk_stream* stream) {
  if (status == BMK_OK) counting_queued(stream);
  return status;
}

/* ------------------------------------------------------------------------------------------------ device */

static bmk_status device_count(int64_t* count) {
  ENTER(entry_device_count);
  return real->device->count(count);
}

static bmk_status device_describe(int64_t index, bmk_device_info* info) {
  ENTER(entry_device_describe);
  return real->device->describe(index, info);
}

static bmk_status device_open(int64_t index, const bmk_device_options* options, bmk_device** device) {
  ENTER(entry_device_open);
  const bmk_status status = real->device->open(index, options, device);
  if (status == BMK_OK) counting_created(kind_device, *device, 0);
  return status;
}

static void device_close(bmk_device* device) {
  counting_enter_infallible(entry_device_close);
  counting_destroyed(kind_device, device);
  real->device->close(device);
}

static bmk_status device_memory_info(bmk_device* device, int64_t* free_bytes, int64_t* total_bytes) {
  ENTER(entry_device_memory_info);
  return real->device->memory_info(device, free_bytes, total_bytes);
}

static bmk_status device_synchronize(bmk_device* device) {
  ENTER(entry_device_synchronize);
  const bmk_status status = real->device->synchronize(device);
  if (status == BMK_OK) counting_waited_for_all();
  return status;
}

/* ------------------------------------------------------------------------------------------------ memory */

static bmk_status memory_allocate(bmk_device* device, int64_t bytes, void** data) {
  ENTER(entry_memory_allocate);
  const bmk_status status = real->memory->allocate(device, bytes, data);
  if (status == BMK_OK) counting_created(kind_buffer, *data, bytes);
  return status;
}

static void memory_release(bmk_device* device, void* data) {
  counting_enter_infallible(entry_memory_release);
  counting_destroyed(kind_buffer, data);
  real->memory->release(device, data);
}

static bmk_status memory_allocate_host(bmk_device* device, int64_t bytes, void** data) {
  ENTER(entry_memory_allocate_host);
  const bmk_status status = real->memory->allocate_host(device, bytes, data);
  if (status == BMK_OK) counting_created(kind_host_buffer, *data, bytes);
  return status;
}

static void memory_release_host(bmk_device* device, void* data) {
  counting_enter_infallible(entry_memory_release_host);
  counting_destroyed(kind_host_buffer, data);
  real->memory->release_host(device, data);
}

static bmk_status memory_copy_to_device(bmk_stream* stream, void* to, const void* from, int64_t bytes) {
  ENTER(entry_memory_copy_to_device);
  return queued(real->memory->copy_to_device(stream, to, from, bytes), stream);
}

static bmk_status memory_copy_to_host(bmk_stream* stream, void* to, const void* from, int64_t bytes) {
  ENTER(entry_memory_copy_to_host);
  return queued(real->memory->copy_to_host(stream, to, from, bytes), stream);
}

static bmk_status memory_copy_on_device(bmk_stream* stream, void* to, const void* from, int64_t bytes) {
  ENTER(entry_memory_copy_on_device);
  return queued(real->memory->copy_on_device(stream, to, from, bytes), stream);
}

static bmk_status memory_fill(bmk_stream* stream, void* data, int32_t value, int64_t bytes) {
  ENTER(entry_memory_fill);
  return queued(real->memory->fill(stream, data, value, bytes), stream);
}

/* --------------------------------------------------------------------------------- stream, event, graph */

static bmk_status stream_create(bmk_device* device, bmk_stream** stream) {
  ENTER(entry_stream_create);
  const bmk_status status = real->stream->create(device, stream);
  if (status == BMK_OK) counting_created(kind_stream, *stream, 0);
  return status;
}

static void stream_destroy(bmk_stream* stream) {
  counting_enter_infallible(entry_stream_destroy);
  counting_destroyed(kind_stream, stream);
  real->stream->destroy(stream);
}

static bmk_status stream_synchronize(bmk_stream* stream) {
  ENTER(entry_stream_synchronize);
  const bmk_status status = real->stream->synchronize(stream);
  if (status == BMK_OK) counting_waited(stream);
  return status;
}

static bmk_status stream_wait_event(bmk_stream* stream, bmk_event* event) {
  ENTER(entry_stream_wait_event);
  return queued(real->stream->wait_event(stream, event), stream);
}

static bmk_status event_create(bmk_device* device, bmk_event** event) {
  ENTER(entry_event_create);
  const bmk_status status = real->event->create(device, event);
  if (status == BMK_OK) counting_created(kind_event, *event, 0);
  return status;
}

static void event_destroy(bmk_event* event) {
  counting_enter_infallible(entry_event_destroy);
  counting_destroyed(kind_event, event);
  real->event->destroy(event);
}

static bmk_status event_record(bmk_event* event, bmk_stream* stream) {
  ENTER(entry_event_record);
  return queued(real->event->record(event, stream), stream);
}

static bmk_status event_synchronize(bmk_event* event) {
  ENTER(entry_event_synchronize);
  return real->event->synchronize(event);
}

static bmk_status event_elapsed_ns(bmk_event* from, bmk_event* to, double* nanoseconds) {
  ENTER(entry_event_elapsed_ns);
  return real->event->elapsed_ns(from, to, nanoseconds);
}

static bmk_status graph_begin(bmk_stream* stream) {
  ENTER(entry_graph_begin);
  const bmk_status status = real->graph->begin(stream);
  if (status == BMK_OK) counting_recording(stream, 1);
  return status;
}

static bmk_status graph_end(bmk_stream* stream, bmk_graph** graph) {
  const bmk_status injected = counting_enter(entry_graph_end);
  const bmk_status status = real->graph->end(stream, graph);
  counting_recording(stream, 0);
  if (injected == BMK_OK) {
    if (status == BMK_OK) counting_created(kind_graph, *graph, 0);
    return status;
  }
  real->graph->destroy(*graph);
  *graph = NULL;
  return injected;
}

static bmk_status graph_launch(bmk_graph* graph, bmk_stream* stream) {
  ENTER(entry_graph_launch);
  return queued(real->graph->launch(graph, stream), stream);
}

static void graph_destroy(bmk_graph* graph) {
  counting_enter_infallible(entry_graph_destroy);
  counting_destroyed(kind_graph, graph);
  real->graph->destroy(graph);
}

/* -------------------------------------------------------------------------------------------------- GEMM */

static bmk_status gemm_create(bmk_device* device, const bmk_gemm_options* options, bmk_gemm** gemm) {
  ENTER(entry_gemm_create);
  const bmk_status status = real->gemm->create(device, options, gemm);
  if (status == BMK_OK) counting_created(kind_gemm, *gemm, 0);
  return status;
}

static void gemm_destroy(bmk_gemm* gemm) {
  counting_enter_infallible(entry_gemm_destroy);
  counting_destroyed(kind_gemm, gemm);
  real->gemm->destroy(gemm);
}

static bmk_status gemm_prepare(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_shape* shape,
                               const int64_t* row_counts, int64_t num_row_counts) {
  counting_prepared(stream);
  ENTER(entry_gemm_prepare);
  return real->gemm->prepare(gemm, stream, shape, row_counts, num_row_counts);
}

static bmk_status gemm_run(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args) {
  ENTER(entry_gemm_run);
  return queued(real->gemm->run(gemm, stream, args), stream);
}

static bmk_status gemm_num_algorithms(bmk_gemm* gemm, const bmk_gemm_shape* shape, int64_t* count) {
  ENTER(entry_gemm_num_algorithms);
  return real->gemm->num_algorithms(gemm, shape, count);
}

static bmk_status gemm_describe_algorithm(bmk_gemm* gemm, const bmk_gemm_shape* shape, int64_t index,
                                          bmk_gemm_algorithm* algorithm) {
  ENTER(entry_gemm_describe_algorithm);
  return real->gemm->describe_algorithm(gemm, shape, index, algorithm);
}

static bmk_status gemm_run_algorithm(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args,
                                     int64_t index) {
  ENTER(entry_gemm_run_algorithm);
  return queued(real->gemm->run_algorithm(gemm, stream, args, index), stream);
}

static bmk_status gemm_chosen_algorithm(bmk_gemm* gemm, const bmk_gemm_shape* shape, int64_t rows,
                                        int64_t* index) {
  ENTER(entry_gemm_chosen_algorithm);
  return real->gemm->chosen_algorithm(gemm, shape, rows, index);
}

static bmk_status gemm_describe(bmk_gemm* gemm, char* text, int64_t capacity, int64_t* length) {
  ENTER(entry_gemm_describe);
  return real->gemm->describe(gemm, text, capacity, length);
}

/* --------------------------------------------------------------------------------------------------- ops */

#define OP(name, type)                                                 \
  static bmk_status ops_##name(bmk_stream* stream, const type* args) { \
    ENTER(entry_ops_##name);                                           \
    return queued(real->ops->name(stream, args), stream);              \
  }
OP(embed, bmk_embed_args)
OP(gather_rows, bmk_index_rows_args)
OP(scatter_rows, bmk_index_rows_args)
OP(copy_2d, bmk_copy_2d_args)
OP(synthetic_fill, bmk_synthetic_fill_args)
OP(rms_norm, bmk_rms_norm_args)
OP(add_rms_norm, bmk_add_rms_norm_args)
OP(gated_rms_norm, bmk_gated_rms_norm_args)
OP(conv, bmk_conv_args)
OP(gdn_gates, bmk_gdn_gates_args)
OP(gdn_prefill, bmk_gdn_prefill_args)
OP(attention_prepare, bmk_attention_prepare_args)
OP(gated_attention, bmk_gated_attention_args)
OP(silu_mul, bmk_silu_mul_args)
OP(lora_delta, bmk_lora_delta_args)
OP(non_finite_scan, bmk_non_finite_scan_args)

#define WORKSPACE(name, type)                                                                      \
  static bmk_status ops_##name##_workspace(bmk_device* device, const type* args, int64_t* bytes) { \
    ENTER(entry_ops_##name##_workspace);                                                           \
    return real->ops->name##_workspace(device, args, bytes);                                       \
  }
WORKSPACE(gdn_prefill, bmk_gdn_prefill_args)
WORKSPACE(gated_attention, bmk_gated_attention_args)
WORKSPACE(lora_delta, bmk_lora_delta_args)

/* ------------------------------------------------------------------------------------------------- table */

static const bmk_device_api kDevice = {sizeof kDevice, device_count,       device_describe,   device_open,
                                       device_close,   device_memory_info, device_synchronize};
static const bmk_memory_api kMemory = {sizeof kMemory,       memory_allocate,       memory_release,
                                       memory_allocate_host, memory_release_host,   memory_copy_to_device,
                                       memory_copy_to_host,  memory_copy_on_device, memory_fill};
static const bmk_stream_api kStream = {sizeof kStream, stream_create, stream_destroy, stream_synchronize,
                                       stream_wait_event};
static const bmk_event_api kEvent = {sizeof kEvent, event_create,      event_destroy,
                                     event_record,  event_synchronize, event_elapsed_ns};
static const bmk_graph_api kGraph = {sizeof kGraph, graph_begin, graph_end, graph_launch, graph_destroy};
static const bmk_gemm_api kGemm = {sizeof kGemm,
                                   gemm_create,
                                   gemm_destroy,
                                   gemm_prepare,
                                   gemm_run,
                                   gemm_num_algorithms,
                                   gemm_describe_algorithm,
                                   gemm_run_algorithm,
                                   gemm_chosen_algorithm,
                                   gemm_describe};
static const bmk_ops_api kOps = {sizeof kOps,
                                 ops_embed,
                                 ops_gather_rows,
                                 ops_scatter_rows,
                                 ops_copy_2d,
                                 ops_synthetic_fill,
                                 ops_rms_norm,
                                 ops_add_rms_norm,
                                 ops_gated_rms_norm,
                                 ops_conv,
                                 ops_gdn_gates,
                                 ops_gdn_prefill_workspace,
                                 ops_gdn_prefill,
                                 ops_attention_prepare,
                                 ops_gated_attention_workspace,
                                 ops_gated_attention,
                                 ops_silu_mul,
                                 ops_lora_delta_workspace,
                                 ops_lora_delta,
                                 ops_non_finite_scan};

static const bmk_kernels* open_real(void) {
  void* library = dlopen(BRANCHMARK_GRAPH_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  void* symbol = dlsym(library, BMK_ENTRY_POINT);
  if (symbol == NULL) return NULL;
  bmk_entry_point entry = NULL;
  memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from an object pointer to a function's */
  return entry();
}

static void read_environment(void) {
  const char* text = getenv("BRANCHMARK_TEST_FAIL_CALL");
  if (text == NULL) return;
  char* end = NULL;
  const long long nth = strtoll(text, &end, 10);
  const long status = *end == ':' ? strtol(end + 1, NULL, 10) : BMK_FAILED;
  kCountingControl.fail_call(nth, (bmk_status)status);
}

__attribute__((visibility("default"))) const bmk_kernels* branchmark_kernels(void) {
  static counting_kernels table = {.kernels = {.abi_version = BMK_ABI_VERSION,
                                               .struct_size = sizeof(counting_kernels),
                                               .name = "counting",
                                               .build_id = "the CPU module with graphs, counted, for tests",
                                               .last_error = last_error,
                                               .device = &kDevice,
                                               .memory = &kMemory,
                                               .stream = &kStream,
                                               .event = &kEvent,
                                               .graph = &kGraph,
                                               .gemm = &kGemm,
                                               .ops = &kOps}};
  if (real != NULL) return &table.kernels;
  real = open_real();
  if (real == NULL) return NULL;
  table.control = kCountingControl;
  read_environment();
  return &table.kernels;
}
