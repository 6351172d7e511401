/*
 * branchmark kernel ABI, version 1.
 *
 * The one file that both sides of the kernel boundary include. A *kernel module* is a shared library that
 * exports exactly one symbol, `branchmark_kernels`, which returns a constant table of function pointers. The
 * model library drives any such table and knows nothing of what stands behind it.
 *
 * Conventions, valid for everything below:
 *
 *  1. Every function that can fail returns a bmk_status. `last_error()` then describes the failure: text owned
 *     by the module, valid in the calling thread until its next call into the module. No exception, no C++
 *     type and no output to a terminal crosses this boundary.
 *  2. Matrices are row-major. Sizes are int64_t. Strides count elements, not bytes.
 *  3. A buffer from memory.allocate begins at a multiple of 256 bytes. The data of a bmk_matrix (a buffer or a
 *     view into one) begins at a multiple of 16 bytes, and its row stride is a multiple of 8 elements and at
 *     least its number of columns. An op answers anything else with BMK_INVALID_ARGUMENT; no op chooses a path
 *     by alignment.
 *  4. An op only queues work on its stream. It never allocates device memory, never synchronises, and reads
 *     its host-side arguments before it returns. Where an op needs scratch memory, a query beside it tells how
 *     much. Zero rows is a successful no-op, unless the op says more.
 *  5. Memory called "device" is device memory, which for a CPU module is ordinary memory. Memory called "host"
 *     is read by the calling thread.
 *  6. Objects are opaque, owned by the caller from create/open to destroy/close, and used by one thread at a
 *     time; different objects may be used by different threads. Destroying NULL does nothing.
 *  7. Every struct that may grow begins with its size, set by the caller (`struct_size = sizeof ...`). New
 *     members and new functions go to the end; a reader looks only as far as the size says.
 *  8. Determinism: a row's bits depend on that row, its sequence and its sequence's parents only. See
 *     kernels/README.md for the rules.
 *
 * Valid as C11 and as C++.
 */
#ifndef BRANCHMARK_KERNELS_H
#define BRANCHMARK_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BMK_ABI_VERSION 1u
#define BMK_ENTRY_POINT "branchmark_kernels"

/* Tokens in one chunk of the gated delta net; states are captured at multiples of it, and segments of keys
 * begin at multiples of it. */
#define BMK_CHUNK_TOKENS 64
/* Head sizes that every supported model has. */
#define BMK_ATTENTION_HEAD_DIM 256
#define BMK_GDN_HEAD_DIM 128
/* Taps of the causal convolution, and the rows of history that it needs. */
#define BMK_CONV_TAPS 4
#define BMK_CONV_HISTORY 3
/* Dimensions of a head that the rotary embedding turns, and the frequencies that turn them. */
#define BMK_ROTARY_DIM 64
#define BMK_ROTARY_FREQUENCIES 32
#define BMK_GEMM_WORKSPACE_BYTES (32ll << 20)

/* ------------------------------------------------------------------------------------------ status, types */

typedef int32_t bmk_status;
enum {
  BMK_OK = 0,
  BMK_INVALID_ARGUMENT = 1, /* the caller broke this header's contract */
  BMK_UNSUPPORTED = 2,      /* a valid request that this module does not implement */
  BMK_OUT_OF_MEMORY = 3,
  BMK_NO_DEVICE = 4,      /* no such device, or one that this module cannot use */
  BMK_UNSERVED_SIZE = 5,  /* the fixed GEMM algorithm cannot serve this M; nothing ran */
  BMK_DEVICE_LOST = 6,    /* the device faulted; nothing on it can be used any more */
  BMK_FAILED = 7          /* any other failure of the module or of what lies under it */
};

typedef int32_t bmk_dtype;
enum { BMK_F32 = 1, BMK_BF16 = 2 };

/* Where an op rounds; the rules are in kernels/README.md.
 *   DEFAULT    values are bf16 between ops, arithmetic inside one is float32
 *   GDN_FP32   as DEFAULT, but no operand inside a GDN chunk is rounded
 *   REFERENCE  float32 throughout, activations included */
typedef int32_t bmk_numerics;
enum { BMK_NUMERICS_DEFAULT = 0, BMK_NUMERICS_GDN_FP32 = 1, BMK_NUMERICS_REFERENCE = 2 };

/* A matrix in device memory: [rows, columns], row-major. */
typedef struct bmk_matrix {
  void* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride; /* elements */
  bmk_dtype dtype;
  int32_t reserved; /* 0 */
} bmk_matrix;

typedef struct bmk_device bmk_device;
typedef struct bmk_stream bmk_stream;
typedef struct bmk_event bmk_event;
typedef struct bmk_graph bmk_graph;
typedef struct bmk_gemm bmk_gemm;

/* ------------------------------------------------------------------------------------------------ device */

/* Text is NUL-terminated UTF-8, empty where unknown; a number is -1 where unknown. */
typedef struct bmk_device_info {
  int64_t struct_size;
  char name[128];
  char uuid[64]; /* "GPU-...", "MIG-...", empty for a CPU */
  char pci_id[32];
  char architecture[64]; /* "sm_90", "x86-64", "aarch64" */
  char driver_version[32];
  char runtime_version[32];
  char blas_version[32];
  char ineligible_reason[256]; /* empty: the module can run on this device */
  int64_t multiprocessors;     /* CPU: hardware threads */
  int64_t memory_bytes;
  int64_t l2_bytes;
  int32_t supports_graphs; /* 0 or 1 */
  int32_t ecc;             /* 0, 1, -1 */
  int32_t mig;             /* 0, 1, -1 */
  int32_t is_cpu;          /* 0 or 1 */
} bmk_device_info;

typedef struct bmk_device_options {
  int64_t struct_size;
  int64_t num_threads; /* CPU modules: worker threads, 0 for all that the process may use */
} bmk_device_options;

typedef struct bmk_device_api {
  int64_t struct_size;
  /* Number of devices, 0 with BMK_OK where there are none. Says why in last_error() then. */
  bmk_status (*count)(int64_t* count);
  /* Describes a device without opening it. `info->struct_size` is set by the caller. */
  bmk_status (*describe)(int64_t index, bmk_device_info* info);
  bmk_status (*open)(int64_t index, const bmk_device_options* options, bmk_device** device);
  void (*close)(bmk_device* device);
  bmk_status (*memory_info)(bmk_device* device, int64_t* free_bytes, int64_t* total_bytes);
  /* Waits for everything queued on the device and reports a sticky fault. */
  bmk_status (*synchronize)(bmk_device* device);
} bmk_device_api;

/* ------------------------------------------------------------------------------------------------ memory */

typedef struct bmk_memory_api {
  int64_t struct_size;
  /* `bytes` > 0. Contents are undefined. Never called by an op. */
  bmk_status (*allocate)(bmk_device* device, int64_t bytes, void** data);
  void (*release)(bmk_device* device, void* data);
  /* Host memory from which copies to the device do not block (page-locked where that means something). */
  bmk_status (*allocate_host)(bmk_device* device, int64_t bytes, void** data);
  void (*release_host)(bmk_device* device, void* data);
  /* Queued copies. Host memory must stay valid until the stream has passed the copy. */
  bmk_status (*copy_to_device)(bmk_stream* stream, void* device_destination, const void* host_source,
                               int64_t bytes);
  bmk_status (*copy_to_host)(bmk_stream* stream, void* host_destination, const void* device_source,
                             int64_t bytes);
  bmk_status (*copy_on_device)(bmk_stream* stream, void* destination, const void* source, int64_t bytes);
  /* Sets every byte to `value` (0..255). */
  bmk_status (*fill)(bmk_stream* stream, void* data, int32_t value, int64_t bytes);
} bmk_memory_api;

/* --------------------------------------------------------------------------------- stream, event, graph */

typedef struct bmk_stream_api {
  int64_t struct_size;
  bmk_status (*create)(bmk_device* device, bmk_stream** stream);
  void (*destroy)(bmk_stream* stream);
  bmk_status (*synchronize)(bmk_stream* stream);
  bmk_status (*wait_event)(bmk_stream* stream, bmk_event* event);
} bmk_stream_api;

typedef struct bmk_event_api {
  int64_t struct_size;
  bmk_status (*create)(bmk_device* device, bmk_event** event);
  void (*destroy)(bmk_event* event);
  bmk_status (*record)(bmk_event* event, bmk_stream* stream);
  bmk_status (*synchronize)(bmk_event* event);
  /* Both events must have been passed. */
  bmk_status (*elapsed_ns)(bmk_event* from, bmk_event* to, double* nanoseconds);
} bmk_event_api;

/* Recording queued work for replay. A module without graphs answers BMK_UNSUPPORTED to begin. */
typedef struct bmk_graph_api {
  int64_t struct_size;
  bmk_status (*begin)(bmk_stream* stream);
  /* Ends the recording that `begin` opened, also after a failed op in between; then *graph is NULL. */
  bmk_status (*end)(bmk_stream* stream, bmk_graph** graph);
  bmk_status (*launch)(bmk_graph* graph, bmk_stream* stream);
  void (*destroy)(bmk_graph* graph);
} bmk_graph_api;

/* -------------------------------------------------------------------------------------------------- GEMM */

/* y[M, N] = x[M, K] · w[N, K]ᵀ, accumulated in float32, rounded once to y's type.
 *   DEFAULT  the module's own choice for each (M, N, K, stride); a row's bits may change with M
 *   FIXED    one algorithm per shape for every M, no split of K: rows do not depend on M
 *   CLASS    the fastest, per M, of the algorithms proven on this device to give the bits of FIXED */
typedef int32_t bmk_gemm_kind;
enum { BMK_GEMM_DEFAULT = 0, BMK_GEMM_FIXED = 1, BMK_GEMM_CLASS = 2 };

typedef struct bmk_gemm_options {
  int64_t struct_size;
  bmk_gemm_kind kind;
  int32_t trust_cache;    /* 1: a matching cache entry is used after a short re-proof; 0: always proven anew */
  const char* cache_file; /* where class tables are kept; NULL or empty: nowhere */
} bmk_gemm_options;

/* What one weight matrix asks of a handle; M is not part of it. */
typedef struct bmk_gemm_shape {
  int64_t n;
  int64_t k;
  int64_t x_stride;
  int64_t w_stride;
  int64_t y_stride;
  bmk_dtype x_dtype;
  bmk_dtype w_dtype;
  bmk_dtype y_dtype;
  int32_t reserved; /* 0 */
} bmk_gemm_shape;

/* One algorithm that a module knows for a shape. Index 0 is the fixed one. */
typedef struct bmk_gemm_algorithm {
  int64_t struct_size;
  char fingerprint[160]; /* names the algorithm and its settings; equal text, equal algorithm */
  int64_t split_k;       /* parts that K is cut into; 1: not split */
  int32_t in_class;      /* 1: proven on this device to give the fixed algorithm's bits */
  int32_t reserved;      /* 0 */
} bmk_gemm_algorithm;

typedef struct bmk_gemm_args {
  int64_t struct_size;
  bmk_matrix x; /* [M, K] */
  bmk_matrix w; /* [N, K], weights as stored */
  bmk_matrix y; /* [M, N] */
} bmk_gemm_args;

typedef struct bmk_gemm_api {
  int64_t struct_size;
  bmk_status (*create)(bmk_device* device, const bmk_gemm_options* options, bmk_gemm** gemm);
  void (*destroy)(bmk_gemm* gemm);
  /* Makes a shape ready: searches algorithms, proves the class (kind CLASS), checks that the fixed algorithm
   * serves each of `row_counts`. May allocate, run products and synchronise; `run` then does not. Preparing a
   * shape again adds row counts. BMK_UNSERVED_SIZE names N, K and M. */
  bmk_status (*prepare)(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_shape* shape,
                        const int64_t* row_counts, int64_t num_row_counts);
  /* Queues the product. A FIXED or CLASS handle refuses a shape that was not prepared. */
  bmk_status (*run)(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args);
  /* The algorithms known for a prepared shape: the fixed one, the class, and others that were offered (with a
   * split K among them where there is one). */
  bmk_status (*num_algorithms)(bmk_gemm* gemm, const bmk_gemm_shape* shape, int64_t* count);
  bmk_status (*describe_algorithm)(bmk_gemm* gemm, const bmk_gemm_shape* shape, int64_t index,
                                   bmk_gemm_algorithm* algorithm);
  /* Queues the product with one named algorithm; the check of a class asks every member. */
  bmk_status (*run_algorithm)(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args, int64_t index);
  /* Index of the algorithm that `run` takes at M rows. */
  bmk_status (*chosen_algorithm)(bmk_gemm* gemm, const bmk_gemm_shape* shape, int64_t rows, int64_t* index);
  /* A JSON object that describes the handle for a report: versions, and per shape the algorithms, the class
   * digest and the table by M. Writes at most `capacity` bytes including the NUL; *length is the full length
   * without it. */
  bmk_status (*describe)(bmk_gemm* gemm, char* text, int64_t capacity, int64_t* length);
} bmk_gemm_api;

/* --------------------------------------------------------------------------------------------------- ops */

/* Sequences packed as rows: sequence s owns rows [row_offsets[s], row_offsets[s + 1]), which are the tokens
 * first_position[s] ... of its prompt. Counted from the prompt's start, so that chunks and key tiles lie on
 * one absolute grid; first_position is a multiple of BMK_CHUNK_TOKENS. A sequence may have zero rows. */
typedef struct bmk_sequences {
  int64_t num_sequences;
  int64_t num_rows;
  int64_t num_chunks; /* chunk_offsets[num_sequences] */
  int64_t max_rows;   /* rows of the longest sequence */
  /* device */
  const int64_t* row_offsets;       /* [num_sequences + 1] */
  const int64_t* first_position;    /* [num_sequences] */
  const int64_t* chunk_offsets;     /* [num_sequences + 1], cumulative ceil(rows / BMK_CHUNK_TOKENS) */
  const int32_t* sequence_of_row;   /* [num_rows] */
  /* host: the same values as the device arrays of that name */
  const int64_t* host_row_offsets;
  const int64_t* host_first_position;
} bmk_sequences;

/* out[r] = table[ids[r]], converted to out's type. Ids were checked by the caller. */
typedef struct bmk_embed_args {
  int64_t struct_size;
  const int32_t* ids; /* device [rows] */
  bmk_matrix table;   /* [vocabulary, hidden], as stored */
  bmk_matrix out;     /* [rows, hidden] */
} bmk_embed_args;

/* gather: out[i] = in[indices[i]]; scatter: out[indices[i]] = in[i], indices distinct. Same dtype. */
typedef struct bmk_index_rows_args {
  int64_t struct_size;
  const int64_t* indices; /* device [number of rows moved] */
  bmk_matrix in;
  bmk_matrix out;
} bmk_index_rows_args;

/* out = in, element by element; the types may differ (bf16 to f32 exactly, f32 to bf16 to nearest even). */
typedef struct bmk_copy_2d_args {
  int64_t struct_size;
  bmk_matrix in;
  bmk_matrix out;
} bmk_copy_2d_args;

/* Fills a matrix from a counter-based generator, the same bits in every module. For element i = row · columns
 * + column, all in uint64 modulo 2^64:
 *   z = key + (i + 1) · 0x9E3779B97F4A7C15;  z = (z ^ z >> 30) · 0xBF58476D1CE4E5B9;
 *   z = (z ^ z >> 27) · 0x94D049BB133111EB;  z = z ^ z >> 31
 *   s = z[0..15] + z[16..31] + z[32..47] + z[48..63] − 131070      (integer, standard deviation 37,837)
 *   out = mean + s · 2^exponent                                     (float32, one rounding, then to out's type) */
typedef struct bmk_synthetic_fill_args {
  int64_t struct_size;
  uint64_t key;
  int32_t exponent;
  float mean;
  bmk_matrix out;
} bmk_synthetic_fill_args;

/* out = x · rsqrt(mean(x²) + eps) · (1 + weight), float32 inside, one rounding. */
typedef struct bmk_rms_norm_args {
  int64_t struct_size;
  bmk_numerics numerics;
  float eps;
  bmk_matrix x;      /* [rows, n] */
  bmk_matrix weight; /* [1, n], bf16 or f32 as stored */
  bmk_matrix out;    /* [rows, n] */
} bmk_rms_norm_args;

/* residual ← round(residual + delta); out = rms_norm of the rounded residual, the same bits as rms_norm. */
typedef struct bmk_add_rms_norm_args {
  int64_t struct_size;
  bmk_numerics numerics;
  float eps;
  bmk_matrix residual; /* [rows, n], in and out */
  bmk_matrix delta;    /* [rows, n] */
  bmk_matrix weight;   /* [1, n] */
  bmk_matrix out;      /* [rows, n] */
} bmk_add_rms_norm_args;

/* Per value head: n = round(o · rsqrt(mean(o²) + eps)); m = round(weight · n); out = round(m · silu(z)).
 * All matrices [rows, value heads · 128]; weight [1, 128]. */
typedef struct bmk_gated_rms_norm_args {
  int64_t struct_size;
  bmk_numerics numerics;
  float eps;
  int64_t value_heads;
  bmk_matrix o;
  bmk_matrix z;
  bmk_matrix weight;
  bmk_matrix out;
} bmk_gated_rms_norm_args;

/* Depthwise causal convolution of 4 taps, rounded, then SiLU, rounded. Oldest tap first; taps before the
 * prompt's start are multiplied as zeros. The history of a sequence is the BMK_CONV_HISTORY rows of `x` before
 * its first row, oldest first, row stride = channels, of x's type. History out: the three rows of input before
 * own row history_at[s] (taken from the history in where it is less than three), written where history_out[s]
 * is not NULL. Zero rows with a history out copies the history in, or writes zeros. */
typedef struct bmk_conv_args {
  int64_t struct_size;
  bmk_numerics numerics;
  int32_t reserved; /* 0 */
  bmk_sequences sequences;
  bmk_matrix x;                   /* [rows, channels] */
  bmk_matrix weight;              /* [channels, 4], row stride 4, as stored: the one exception to convention 3 */
  bmk_matrix out;                 /* [rows, channels] */
  const void* const* history_in;  /* device [num_sequences]; entry NULL: zeros */
  void* const* history_out;       /* device [num_sequences]; entry NULL: not wanted */
  const int64_t* history_at;      /* device [num_sequences], own rows, 0..rows of the sequence */
} bmk_conv_args;

/* beta = round(sigmoid(b)); g = −exp(A_log) · softplus(a + dt_bias), softplus(x) = x above 20, else
 * log1p(exp(x)). beta is stored as float32 and holds the rounded value; g is float32 and never positive. */
typedef struct bmk_gdn_gates_args {
  int64_t struct_size;
  bmk_numerics numerics;
  int32_t reserved; /* 0 */
  bmk_matrix a;       /* [rows, value heads] */
  bmk_matrix b;       /* [rows, value heads] */
  bmk_matrix a_log;   /* [1, value heads], bf16 or f32 as stored */
  bmk_matrix dt_bias; /* [1, value heads], bf16 or f32 as stored */
  bmk_matrix g;       /* [rows, value heads], f32 */
  bmk_matrix beta;    /* [rows, value heads], f32 */
} bmk_gdn_gates_args;

/* Gated delta rule in chunks of 64 tokens counted from the prompt's start (arXiv 2412.06464; formulas and
 * rounding points in kernels/README.md). Normalises q and k per head: x · rsqrt(Σx² + 1e-6), q also · 128^−½.
 * Value head h reads key head h · key_heads / value_heads.
 * A state is [value heads, 128 key dims, 128 value dims] float32, contiguous. state_in[s] is what the sequence
 * continues from (NULL: zeros), read only; several sequences may share one. state_out[s], where not NULL, gets
 * the state after own row state_at[s], which is a multiple of 64. Zero rows with a state out copies state_in,
 * or writes zeros. */
typedef struct bmk_gdn_prefill_args {
  int64_t struct_size;
  bmk_numerics numerics;
  int32_t reserved; /* 0 */
  int64_t key_heads;
  int64_t value_heads;
  bmk_sequences sequences;
  bmk_matrix qkv;  /* [rows, 2 · 128 · key_heads + 128 · value_heads]: q | k | v, after convolution and SiLU */
  bmk_matrix g;    /* [rows, value heads], f32 */
  bmk_matrix beta; /* [rows, value heads], f32 */
  bmk_matrix out;  /* [rows, 128 · value_heads] */
  const float* const* state_in; /* device [num_sequences] */
  float* const* state_out;      /* device [num_sequences] */
  const int64_t* state_at;      /* device [num_sequences], own rows */
  void* workspace;
  int64_t workspace_bytes;
} bmk_gdn_prefill_args;

/* Per query and key head: rms norm over 256 with (1 + weight), rounded; rotary on dims 0..63 as pairs
 * (i, i + 32), each product rounded, then the sum; dims 64..255 pass. Values are copied. Keys and values of
 * sequence s go to key_out[s] and value_out[s], row 0 being its first own row, row stride = kv_heads · 256.
 * Frequency i takes row `height` of the positions if i mod 3 = 1 and i < 3 · section_height, row `width` if
 * i mod 3 = 2 and i < 3 · section_width, else row `temporal`. */
typedef struct bmk_attention_prepare_args {
  int64_t struct_size;
  bmk_numerics numerics;
  float eps;
  int64_t query_heads;
  int64_t kv_heads;
  bmk_sequences sequences;
  bmk_matrix projection; /* [rows, 512 · query_heads + 512 · kv_heads]: per query head 256 query then 256 gate;
                            k; v */
  bmk_matrix query_norm; /* [1, 256], as stored */
  bmk_matrix key_norm;   /* [1, 256], as stored */
  bmk_matrix cosines;    /* [positions, 32], activation type */
  bmk_matrix sines;      /* [positions, 32], activation type */
  const int32_t* positions; /* device [3, num_rows]: temporal, height, width; each below cosines.rows */
  int64_t section_height;
  int64_t section_width;
  bmk_matrix query;        /* out [rows, 256 · query_heads] */
  void* const* key_out;    /* device [num_sequences] */
  void* const* value_out;  /* device [num_sequences] */
} bmk_attention_prepare_args;

/* Causal softmax attention, scale 1/16, then the output gate. The keys and values of sequence s are the
 * segments [segment_offsets[s], segment_offsets[s + 1]) in order of position, gapless from position 0; the last
 * is the sequence's own rows, the others its ancestors', read in place. Every segment begins at a multiple of
 * 64; row stride = kv_heads · 256. A row at absolute position p sees the keys of positions 0..p.
 * Probabilities exp(s − running max) are rounded unnormalised for the product with V, then divided; the result
 * is rounded, multiplied by round(sigmoid(gate)), rounded. Query head h reads kv head
 * h · kv_heads / query_heads. Gate of head h of a row: gate.data + row · row_stride + h · gate_head_stride. */
typedef struct bmk_gated_attention_args {
  int64_t struct_size;
  bmk_numerics numerics;
  int32_t reserved; /* 0 */
  int64_t query_heads;
  int64_t kv_heads;
  bmk_sequences sequences;
  bmk_matrix query; /* [rows, 256 · query_heads] */
  bmk_matrix gate;  /* first head's gate; columns = gate_head_stride · (query_heads − 1) + 256 */
  int64_t gate_head_stride;
  bmk_matrix out; /* [rows, 256 · query_heads] */
  int64_t num_segments;
  int64_t max_positions;          /* largest number of keys that any sequence sees */
  const int64_t* segment_offsets; /* device [num_sequences + 1] */
  const void* const* segment_keys;   /* device [num_segments] */
  const void* const* segment_values; /* device [num_segments] */
  const int64_t* segment_first_position; /* device [num_segments] */
  const int64_t* segment_length;         /* device [num_segments] */
  void* workspace;
  int64_t workspace_bytes;
} bmk_gated_attention_args;

/* out = round(round(silu(gate)) · up). */
typedef struct bmk_silu_mul_args {
  int64_t struct_size;
  bmk_numerics numerics;
  int32_t reserved; /* 0 */
  bmk_matrix gate; /* [rows, n] */
  bmk_matrix up;   /* [rows, n] */
  bmk_matrix out;  /* [rows, n] */
} bmk_silu_mul_args;

/* y ← round(y + scale · B(A x)), float32 inside. y is a slice of a stacked projection's output. */
typedef struct bmk_lora_delta_args {
  int64_t struct_size;
  bmk_numerics numerics;
  float scale;
  bmk_matrix x; /* [rows, K] */
  bmk_matrix a; /* [rank, K], f32 */
  bmk_matrix b; /* [N, rank], f32 */
  bmk_matrix y; /* [rows, N], in and out */
  void* workspace;
  int64_t workspace_bytes;
} bmk_lora_delta_args;

/* *first_index ← min(*first_index, row · columns + column) over the elements that are NaN or infinite. The
 * caller sets *first_index beforehand (each byte 0x7F: none yet). */
typedef struct bmk_non_finite_scan_args {
  int64_t struct_size;
  bmk_matrix x;
  int64_t* first_index; /* device */
} bmk_non_finite_scan_args;

typedef struct bmk_ops_api {
  int64_t struct_size;
  bmk_status (*embed)(bmk_stream*, const bmk_embed_args*);
  bmk_status (*gather_rows)(bmk_stream*, const bmk_index_rows_args*);
  bmk_status (*scatter_rows)(bmk_stream*, const bmk_index_rows_args*);
  bmk_status (*copy_2d)(bmk_stream*, const bmk_copy_2d_args*);
  bmk_status (*synthetic_fill)(bmk_stream*, const bmk_synthetic_fill_args*);
  bmk_status (*rms_norm)(bmk_stream*, const bmk_rms_norm_args*);
  bmk_status (*add_rms_norm)(bmk_stream*, const bmk_add_rms_norm_args*);
  bmk_status (*gated_rms_norm)(bmk_stream*, const bmk_gated_rms_norm_args*);
  bmk_status (*conv)(bmk_stream*, const bmk_conv_args*);
  bmk_status (*gdn_gates)(bmk_stream*, const bmk_gdn_gates_args*);
  /* Workspace queries look at sizes only: every pointer in `args` may be NULL. */
  bmk_status (*gdn_prefill_workspace)(bmk_device*, const bmk_gdn_prefill_args*, int64_t* bytes);
  bmk_status (*gdn_prefill)(bmk_stream*, const bmk_gdn_prefill_args*);
  bmk_status (*attention_prepare)(bmk_stream*, const bmk_attention_prepare_args*);
  bmk_status (*gated_attention_workspace)(bmk_device*, const bmk_gated_attention_args*, int64_t* bytes);
  bmk_status (*gated_attention)(bmk_stream*, const bmk_gated_attention_args*);
  bmk_status (*silu_mul)(bmk_stream*, const bmk_silu_mul_args*);
  bmk_status (*lora_delta_workspace)(bmk_device*, const bmk_lora_delta_args*, int64_t* bytes);
  bmk_status (*lora_delta)(bmk_stream*, const bmk_lora_delta_args*);
  bmk_status (*non_finite_scan)(bmk_stream*, const bmk_non_finite_scan_args*);
} bmk_ops_api;

/* ------------------------------------------------------------------------------------------------- table */

/* abi_version and struct_size never move, so that any reader can compare versions before reading on. */
typedef struct bmk_kernels {
  uint32_t abi_version;
  uint32_t struct_size;
  const char* name;     /* "cpu", "cuda", ... */
  const char* build_id; /* compiler, flags and revision, one line */
  const char* (*last_error)(void);
  const bmk_device_api* device;
  const bmk_memory_api* memory;
  const bmk_stream_api* stream;
  const bmk_event_api* event;
  const bmk_graph_api* graph;
  const bmk_gemm_api* gemm;
  const bmk_ops_api* ops;
} bmk_kernels;

/* The one exported symbol of a module. */
typedef const bmk_kernels* (*bmk_entry_point)(void);

#ifdef __cplusplus
}
#endif
#endif
