#include "counting_record.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTING_NAME(group, name) #group "." #name,
static const char* const kNames[] = {COUNTING_ENTRIES(COUNTING_NAME)};

typedef struct object {
  const void* address;
  int64_t bytes;
  int64_t queued;   /* streams */
  int64_t prepared; /* streams: GEMMs that may have left products */
  int is_recording; /* streams */
  struct object* next;
} object;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static object* live[num_counting_kinds];
static int64_t calls_of_entry[num_counting_entries];
static int64_t fallible_calls;
static int64_t failed_calls;
static int64_t released_while_queued;
static int64_t calls_until_failure; /* 0: none fails */
static bmk_status failure_status;
static const char* failed_entry = "";
static _Thread_local char failure[128]; /* empty: the wrapped module spoke last */

/* ------------------------------------------------------------------------------------------------- calls */

bmk_status counting_enter(counting_entry entry) {
  pthread_mutex_lock(&mutex);
  ++calls_of_entry[entry];
  ++fallible_calls;
  const int fails = calls_until_failure > 0 && --calls_until_failure == 0;
  const bmk_status status = fails ? failure_status : BMK_OK;
  if (fails) {
    ++failed_calls;
    failed_entry = kNames[entry];
  }
  pthread_mutex_unlock(&mutex);
  failure[0] = '\0';
  if (fails) snprintf(failure, sizeof failure, "injected failure of %s", kNames[entry]);
  return status;
}

void counting_enter_infallible(counting_entry entry) {
  pthread_mutex_lock(&mutex);
  ++calls_of_entry[entry];
  pthread_mutex_unlock(&mutex);
}

const char* counting_failure(void) {
  return failure[0] == '\0' ? NULL : failure;
}

/* ----------------------------------------------------------------------------------------------- objects */

static object* find(counting_kind kind, const void* address) {
  object* found = live[kind];
  while (found != NULL && found->address != address) found = found->next;
  return found;
}

void counting_created(counting_kind kind, const void* address, int64_t bytes) {
  object* created = calloc(1, sizeof *created);
  if (created == NULL) abort(); /* the books would be wrong from here on */
  created->address = address;
  created->bytes = bytes;
  pthread_mutex_lock(&mutex);
  created->next = live[kind];
  live[kind] = created;
  pthread_mutex_unlock(&mutex);
}

static int64_t sum_queued(void) {
  int64_t queued = 0;
  for (const object* stream = live[kind_stream]; stream != NULL; stream = stream->next)
    queued += stream->queued;
  return queued;
}

void counting_destroyed(counting_kind kind, const void* address) {
  if (address == NULL) return;
  pthread_mutex_lock(&mutex);
  if ((kind == kind_buffer || kind == kind_host_buffer) && sum_queued() > 0) ++released_while_queued;
  object** link = &live[kind];
  while (*link != NULL && (*link)->address != address) link = &(*link)->next;
  object* gone = *link;
  if (gone == NULL) abort(); /* destroyed twice, or never created */
  *link = gone->next;
  pthread_mutex_unlock(&mutex);
  free(gone);
}

/* ----------------------------------------------------------------------------------------------- streams */

void counting_queued(const bmk_stream* stream) {
  pthread_mutex_lock(&mutex);
  object* found = find(kind_stream, stream);
  if (found != NULL && !found->is_recording) ++found->queued;
  pthread_mutex_unlock(&mutex);
}

void counting_prepared(const bmk_stream* stream) {
  pthread_mutex_lock(&mutex);
  object* found = find(kind_stream, stream);
  if (found != NULL) ++found->prepared;
  pthread_mutex_unlock(&mutex);
}

void counting_recording(const bmk_stream* stream, int is_recording) {
  pthread_mutex_lock(&mutex);
  object* found = find(kind_stream, stream);
  if (found != NULL) found->is_recording = is_recording;
  pthread_mutex_unlock(&mutex);
}

void counting_waited(const bmk_stream* stream) {
  pthread_mutex_lock(&mutex);
  object* found = find(kind_stream, stream);
  if (found != NULL) found->queued = found->prepared = 0;
  pthread_mutex_unlock(&mutex);
}

void counting_waited_for_all(void) {
  pthread_mutex_lock(&mutex);
  for (object* stream = live[kind_stream]; stream != NULL; stream = stream->next)
    stream->queued = stream->prepared = 0;
  pthread_mutex_unlock(&mutex);
}

/* ----------------------------------------------------------------------------------------------- control */

static int64_t count_live(counting_kind kind, int64_t* bytes) {
  int64_t count = 0;
  for (const object* each = live[kind]; each != NULL; each = each->next) {
    ++count;
    if (bytes != NULL) *bytes += each->bytes;
  }
  return count;
}

static void read_counts(counting_counts* counts) {
  memset(counts, 0, sizeof *counts);
  pthread_mutex_lock(&mutex);
  for (int entry = 0; entry < num_counting_entries; ++entry) counts->calls += calls_of_entry[entry];
  counts->fallible_calls = fallible_calls;
  counts->failed_calls = failed_calls;
  counts->devices = count_live(kind_device, NULL);
  counts->streams = count_live(kind_stream, NULL);
  counts->events = count_live(kind_event, NULL);
  counts->graphs = count_live(kind_graph, NULL);
  counts->gemms = count_live(kind_gemm, NULL);
  counts->buffers = count_live(kind_buffer, &counts->buffer_bytes);
  counts->host_buffers = count_live(kind_host_buffer, &counts->host_buffer_bytes);
  counts->queued = sum_queued();
  for (const object* stream = live[kind_stream]; stream != NULL; stream = stream->next)
    counts->queued += stream->prepared;
  counts->released_while_queued = released_while_queued;
  pthread_mutex_unlock(&mutex);
}

static int64_t calls_of(const char* entry) {
  for (int i = 0; i < num_counting_entries; ++i) {
    if (strcmp(kNames[i], entry) != 0) continue;
    pthread_mutex_lock(&mutex);
    const int64_t calls = calls_of_entry[i];
    pthread_mutex_unlock(&mutex);
    return calls;
  }
  return -1;
}

static void fail_call(int64_t nth, bmk_status status) {
  pthread_mutex_lock(&mutex);
  calls_until_failure = nth;
  failure_status = status;
  pthread_mutex_unlock(&mutex);
}

static const char* read_failed_entry(void) {
  pthread_mutex_lock(&mutex);
  const char* name = failed_entry;
  pthread_mutex_unlock(&mutex);
  return name;
}

const counting_control kCountingControl = {read_counts, calls_of, fail_call, read_failed_entry};
