/* What a test sees of the module counting_ops: the kernel table, followed by the functions that read its
 * counts and make a call fail. A table may grow at its end (kernels.h, convention 7), so the module still
 * exports one symbol, and a reader that knows nothing of the rest takes it for an ordinary module.
 *
 * Counts are of the process, over all devices, since the module was loaded. Valid as C11 and as C++. */
#ifndef BRANCHMARK_TESTS_COUNTING_OPS_H
#define BRANCHMARK_TESTS_COUNTING_OPS_H

#include "branchmark/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using,modernize-redundant-void-arg): this is C */
typedef struct counting_counts {
  int64_t calls;          /* of every function of the table apart from last_error */
  int64_t fallible_calls; /* those of them that return a status: what fail_call counts */
  int64_t failed_calls;   /* those that fail_call made fail */
  /* What is live: created and not yet destroyed. */
  int64_t devices;
  int64_t streams;
  int64_t events;
  int64_t graphs;
  int64_t gemms;
  int64_t buffers;
  int64_t buffer_bytes;
  int64_t host_buffers;
  int64_t host_buffer_bytes;
  /* Ops, copies, fills, products, events and graphs put on a stream since that stream was last waited for;
   * what is recorded into a graph is not on it. A prepared GEMM counts as one, failed or not: it may run
   * products and is not bound to wait for them. */
  int64_t queued;
  int64_t
      released_while_queued; /* buffers, host or device, released with anything but a preparation queued */
} counting_counts;

typedef struct counting_control {
  void (*read)(counting_counts* counts);
  /* Calls of one function of the table, as "memory.allocate" or "ops.conv"; -1 where there is no such one. */
  int64_t (*calls_of)(const char* entry);
  /* The nth fallible call from now on (1: the next) answers `status` instead of doing its work; 0: none does.
   * A graph.end that fails still ends the recording. */
  void (*fail_call)(int64_t nth, bmk_status status);
  /* The function whose call failed last; empty at first. */
  const char* (*failed_entry)(void);
} counting_control;

typedef struct counting_kernels {
  bmk_kernels kernels;
  counting_control control;
} counting_kernels;
/* NOLINTEND(modernize-use-using,modernize-redundant-void-arg) */

#ifdef __cplusplus
}
#endif
#endif
