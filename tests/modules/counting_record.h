/* The books of the module counting_ops: calls, live objects, what is queued, and the call that is to fail.
 * Every function may be called from any thread. */
#ifndef BRANCHMARK_TESTS_COUNTING_RECORD_H
#define BRANCHMARK_TESTS_COUNTING_RECORD_H

#include "counting_ops.h"

/* Every function of the table, by group. */
#define COUNTING_ENTRIES(entry)                                                                             \
  entry(device, count) entry(device, describe) entry(device, open) entry(device, close) entry(              \
      device, memory_info) entry(device, synchronize) entry(memory, allocate) entry(memory, release)        \
      entry(memory, allocate_host) entry(memory, release_host) entry(memory, copy_to_device) entry(         \
          memory, copy_to_host) entry(memory, copy_on_device) entry(memory, fill) entry(stream, create)     \
          entry(stream, destroy) entry(stream, synchronize) entry(stream, wait_event) entry(event, create)  \
              entry(event, destroy) entry(event, record) entry(event, synchronize) entry(event, elapsed_ns) \
                  entry(graph, begin) entry(graph, end) entry(graph, launch) entry(graph, destroy)          \
                      entry(gemm, create) entry(gemm, destroy) entry(gemm, prepare) entry(gemm, run) entry( \
                          gemm, num_algorithms) entry(gemm, describe_algorithm) entry(gemm, run_algorithm)  \
                          entry(gemm, chosen_algorithm) entry(gemm, describe) entry(ops, embed)             \
                              entry(ops, gather_rows) entry(ops, scatter_rows) entry(ops, copy_2d)          \
                                  entry(ops, synthetic_fill) entry(ops, rms_norm) entry(ops, add_rms_norm)  \
                                      entry(ops, gated_rms_norm) entry(ops, conv) entry(ops, gdn_gates)     \
                                          entry(ops, gdn_prefill_workspace) entry(ops, gdn_prefill) entry(  \
                                              ops, attention_prepare) entry(ops, gated_attention_workspace) \
                                              entry(ops, gated_attention) entry(ops, silu_mul)              \
                                                  entry(ops, lora_delta_workspace) entry(ops, lora_delta)   \
                                                      entry(ops, non_finite_scan)

#define COUNTING_ENUMERATOR(group, name) entry_##group##_##name,
typedef enum counting_entry { COUNTING_ENTRIES(COUNTING_ENUMERATOR) num_counting_entries } counting_entry;
#undef COUNTING_ENUMERATOR

typedef enum counting_kind {
  kind_device,
  kind_stream,
  kind_event,
  kind_graph,
  kind_gemm,
  kind_buffer,
  kind_host_buffer,
  num_counting_kinds
} counting_kind;

/* Counts a call that returns a status: BMK_OK, or the status that it shall fail with. */
bmk_status counting_enter(counting_entry entry);
/* Counts a call that cannot fail. */
void counting_enter_infallible(counting_entry entry);
/* What to say where the calling thread's last call was made to fail, else NULL. */
const char* counting_failure(void);

void counting_created(counting_kind kind, const void* address, int64_t bytes);
void counting_destroyed(counting_kind kind, const void* address);

void counting_queued(const bmk_stream* stream);
void counting_prepared(const bmk_stream* stream);
void counting_recording(const bmk_stream* stream, int is_recording);
void counting_waited(const bmk_stream* stream);
void counting_waited_for_all(void);

extern const counting_control kCountingControl;

#endif
