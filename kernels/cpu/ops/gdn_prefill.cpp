// The gated delta rule over whole sequences, in chunks of 64 tokens (Gated Delta Networks, arXiv 2412.06464).
//
// Per value head, with S float32 [128 key, 128 value] and rows i, j of one chunk:
//   q, k    x · rsqrt(Σ x² + 1e-6); q also · 128^−½
//   c_i     g_0 + ... + g_i                    D_ij  exp(c_i − c_j) for j <= i
//   A_ij    (beta_i (k_i · k_j)) D_ij, j < i   T     (I + A)^−1, row by row: T_i = e_i − Σ_{j<i} A_ij T_j
//   U       [T diag(beta)] [v]                 W     [T diag(beta)] [k e^c]
//   Vn      [[U] − [W] [S]]                    o     [q e^c] [S] + [(q kᵀ) ∘ D] [Vn]
//   S       e^{c_end} S + [k e^{c_end − c}]ᵀ [Vn]
// where [x] is x rounded to bf16 under numerics DEFAULT and x itself under GDN_FP32 and REFERENCE. Everything
// else is float32: c, D, A, T, the normalised q and k in k kᵀ and q kᵀ, every sum and S.
//
// qkv: [rows, q | k | v], 128 per key head, key head and value head; g, beta: [rows, value heads] f32; out:
// [rows, 128 · value heads]; qkv and out of the activation type. Value head h reads key head
// ⌊h · key heads / value heads⌋.
//
// Order: Σ x² is sum16; every product adds in ascending order of the summed dimension (multiply_add.hpp), o
// first over the state's 128 key dims, then over the chunk's rows.
//
// Rows are independent of what follows them: row i of a chunk reads rows j <= i and the state at the chunk's
// start. Rows past a sequence's end do not exist: sums stop before them, which are the bits that zeros would
// give. Chunks are counted from the prompt's start, and a state is float32 between any two of them, so a run
// that continues from a stored state has the bits of one that never stopped. Sequences and heads share
// nothing.
//
// Bound by arithmetic: 11.5 MFLOP for a chunk of one head, in 0.6 MB of scratch memory.
#include "ops/math.hpp"
#include "ops/multiply_add.hpp"
#include "ops/ops.hpp"

namespace branchmark::cpu::BRANCHMARK_ISA {
namespace {

constexpr int64_t kChunk = BMK_CHUNK_TOKENS;
constexpr int64_t kDim = BMK_GDN_HEAD_DIM;
constexpr float kNormEps = 1e-6f;
constexpr float kQueryScale = 0.088388347648318440550f;  // 128^−½
static_assert(kDim % kColumnMultiple == 0 && kChunk % kColumnMultiple == 0, "products have whole vectors");

// What one worker needs for one head: the state, and a chunk's matrices, row-major. [...] marks operands
// that are rounded as the formulas say.
struct Scratch {
  float state[kDim * kDim];
  float state_operand[kDim * kDim];  // [S]
  float q[kChunk * kDim];
  float k[kChunk * kDim];
  float k_transposed[kDim * kChunk];
  float v[kChunk * kDim];                   // [v]
  float keys_from_start[kChunk * kDim];     // [k e^c]
  float keys_to_end[kChunk * kDim];         // [k e^{c_end − c}]
  float queries_from_start[kChunk * kDim];  // [q e^c]
  float u[kChunk * kDim];                   // [U]
  float w[kChunk * kDim];                   // [W]
  float removed[kChunk * kDim];             // W S
  float v_new[kChunk * kDim];               // [Vn]
  float out[kChunk * kDim];
  float decay[kChunk * kChunk];  // D
  float a[kChunk * kChunk];
  float t[kChunk * kChunk];
  float t_beta[kChunk * kChunk];  // [T diag(beta)]
  float scores[kChunk * kChunk];  // [(q kᵀ) ∘ D]
  float log_decay[kChunk];        // c
  float beta[kChunk];
};

// One chunk of one head of one sequence.
struct Chunk {
  int64_t first_row;  // among the packed rows
  int64_t rows;
  int64_t key_head;
  int64_t value_head;
  bool round_operands;
};

void set_zero(float* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = 0.0f;
}

// [x]: the operands of the bf16 products.
void round_operand(float* x, int64_t count, const Chunk& chunk) {
  if (!chunk.round_operands) return;
  for (int64_t i = 0; i < count; ++i) x[i] = round_bf16(x[i]);
}

void normalise(float* x, float scale) {
  const float inverse = rsqrt_f32(sum16(kDim, [x](int64_t i) { return x[i] * x[i]; }) + kNormEps);
  for (int64_t i = 0; i < kDim; ++i) x[i] = (x[i] * inverse) * scale;
}

// q, k, v, beta, c of the chunk.
void load_chunk(const bmk_gdn_prefill_args& args, const Chunk& chunk, Scratch& s) {
  const int64_t first_key = kDim * args.key_heads;
  float log_decay = 0.0f;
  for (int64_t i = 0; i < chunk.rows; ++i) {
    const int64_t row = chunk.first_row + i;
    const int64_t q_index = row * args.qkv.row_stride + kDim * chunk.key_head;
    const int64_t v_index = row * args.qkv.row_stride + 2 * first_key + kDim * chunk.value_head;
    load_row(s.q + i * kDim, args.qkv.data, q_index, kDim, args.qkv.dtype);
    load_row(s.k + i * kDim, args.qkv.data, q_index + first_key, kDim, args.qkv.dtype);
    load_row(s.v + i * kDim, args.qkv.data, v_index, kDim, args.qkv.dtype);
    normalise(s.q + i * kDim, kQueryScale);
    normalise(s.k + i * kDim, 1.0f);
    log_decay += load(args.g.data, row * args.g.row_stride + chunk.value_head, args.g.dtype);
    s.log_decay[i] = log_decay;
    s.beta[i] = load(args.beta.data, row * args.beta.row_stride + chunk.value_head, args.beta.dtype);
  }
  round_operand(s.v, chunk.rows * kDim, chunk);
  // Rows past the end leave columns of zeros, whose products are not read.
  set_zero(s.k_transposed, kDim * kChunk);
  for (int64_t i = 0; i < chunk.rows; ++i) {
    for (int64_t d = 0; d < kDim; ++d) s.k_transposed[d * kChunk + i] = s.k[i * kDim + d];
  }
}

// D, and the operands that carry a decay: k e^c, q e^c, k e^{c_end − c}.
void decay_chunk(const Chunk& chunk, Scratch& s) {
  const float end = s.log_decay[chunk.rows - 1];
  for (int64_t i = 0; i < chunk.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) s.decay[i * kChunk + j] = exp_f32(s.log_decay[i] - s.log_decay[j]);
    const float from_start = exp_f32(s.log_decay[i]);
    const float to_end = exp_f32(end - s.log_decay[i]);
    for (int64_t e = i * kDim; e < (i + 1) * kDim; ++e) {
      s.keys_from_start[e] = s.k[e] * from_start;
      s.queries_from_start[e] = s.q[e] * from_start;
      s.keys_to_end[e] = s.k[e] * to_end;
    }
  }
  round_operand(s.keys_from_start, chunk.rows * kDim, chunk);
  round_operand(s.queries_from_start, chunk.rows * kDim, chunk);
  round_operand(s.keys_to_end, chunk.rows * kDim, chunk);
}

// (q kᵀ) ∘ D on and below the diagonal.
void score_chunk(const Chunk& chunk, Scratch& s) {
  set_zero(s.scores, chunk.rows * kChunk);
  multiply_add(chunk.rows, kChunk, kDim, {s.q, kDim, 1}, s.k_transposed, kChunk, s.scores, kChunk);
  for (int64_t i = 0; i < chunk.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) s.scores[i * kChunk + j] *= s.decay[i * kChunk + j];
  }
  round_operand(s.scores, chunk.rows * kChunk, chunk);
}

// T diag(beta), by forward substitution through A.
void solve_chunk(const Chunk& chunk, Scratch& s) {
  set_zero(s.a, chunk.rows * kChunk);
  multiply_add(chunk.rows, kChunk, kDim, {s.k, kDim, 1}, s.k_transposed, kChunk, s.a, kChunk);
  for (int64_t i = 0; i < chunk.rows; ++i) {
    float* t = s.t + i * kChunk;
    set_zero(t, kChunk);
    t[i] = 1.0f;
    for (int64_t j = 0; j < i; ++j) {
      const float a = (s.beta[i] * s.a[i * kChunk + j]) * s.decay[i * kChunk + j];
      const float* earlier = s.t + j * kChunk;
      for (int64_t column = 0; column < kChunk; ++column) t[column] -= a * earlier[column];
    }
    for (int64_t j = 0; j < kChunk; ++j) s.t_beta[i * kChunk + j] = j <= i ? t[j] * s.beta[j] : 0.0f;
  }
  round_operand(s.t_beta, chunk.rows * kChunk, chunk);
}

// Vn: the values that the chunk's tokens add to the state, less what the state already answers for their
// keys.
void correct_values(const Chunk& chunk, Scratch& s) {
  const LeftOperand t_beta = {s.t_beta, kChunk, 1};
  const int64_t count = chunk.rows * kDim;
  set_zero(s.u, count);
  multiply_add_lower(chunk.rows, kDim, t_beta, s.v, kDim, s.u, kDim);
  round_operand(s.u, count, chunk);
  set_zero(s.w, count);
  multiply_add_lower(chunk.rows, kDim, t_beta, s.keys_from_start, kDim, s.w, kDim);
  round_operand(s.w, count, chunk);
  for (int64_t i = 0; i < kDim * kDim; ++i) s.state_operand[i] = s.state[i];
  round_operand(s.state_operand, kDim * kDim, chunk);
  set_zero(s.removed, count);
  multiply_add(chunk.rows, kDim, kDim, {s.w, kDim, 1}, s.state_operand, kDim, s.removed, kDim);
  for (int64_t i = 0; i < count; ++i) s.v_new[i] = s.u[i] - s.removed[i];
  round_operand(s.v_new, count, chunk);
}

void write_outputs(const bmk_gdn_prefill_args& args, const Chunk& chunk, Scratch& s) {
  set_zero(s.out, chunk.rows * kDim);
  multiply_add(chunk.rows, kDim, kDim, {s.queries_from_start, kDim, 1}, s.state_operand, kDim, s.out, kDim);
  multiply_add_lower(chunk.rows, kDim, {s.scores, kChunk, 1}, s.v_new, kDim, s.out, kDim);
  for (int64_t i = 0; i < chunk.rows; ++i) {
    const int64_t index = (chunk.first_row + i) * args.out.row_stride + kDim * chunk.value_head;
    store_row(args.out.data, index, kDim, args.out.dtype, s.out + i * kDim);
  }
}

// The state at the end of a whole chunk.
void advance_state(Scratch& s) {
  const float decay = exp_f32(s.log_decay[kChunk - 1]);
  for (int64_t i = 0; i < kDim * kDim; ++i) s.state[i] *= decay;
  multiply_add(kDim, kDim, kChunk, {s.keys_to_end, 1, kDim}, s.v_new, kDim, s.state, kDim);
}

void run_head(const bmk_gdn_prefill_args& args, int64_t sequence, int64_t value_head, Scratch& s) {
  const int64_t first_row = args.sequences.row_offsets[sequence];
  const int64_t rows = args.sequences.row_offsets[sequence + 1] - first_row;
  const int64_t state_index = value_head * kDim * kDim;
  const float* state_in = args.state_in[sequence];
  float* state_out = args.state_out[sequence];
  const int64_t state_at = state_out == nullptr ? -1 : args.state_at[sequence];
  for (int64_t i = 0; i < kDim * kDim; ++i) {
    s.state[i] = state_in == nullptr ? 0.0f : state_in[state_index + i];
  }

  for (int64_t row = 0;; row += kChunk) {
    if (row == state_at) {
      for (int64_t i = 0; i < kDim * kDim; ++i) state_out[state_index + i] = s.state[i];
    }
    if (row >= rows) return;
    Chunk chunk;
    chunk.first_row = first_row + row;
    chunk.rows = rows - row < kChunk ? rows - row : kChunk;
    chunk.key_head = value_head * args.key_heads / args.value_heads;
    chunk.value_head = value_head;
    chunk.round_operands = args.numerics == BMK_NUMERICS_DEFAULT;
    load_chunk(args, chunk, s);
    decay_chunk(chunk, s);
    score_chunk(chunk, s);
    solve_chunk(chunk, s);
    correct_values(chunk, s);
    write_outputs(args, chunk, s);
    // No state is ever read inside a chunk, so that of a partial one, the sequence's last, is not needed.
    if (chunk.rows == kChunk) advance_state(s);
  }
}

int64_t num_tasks(const bmk_gdn_prefill_args& args) {
  return args.sequences.num_sequences * args.value_heads;
}

}  // namespace

int64_t gdn_prefill_workspace(const bmk_gdn_prefill_args& args, int64_t num_threads) {
  return num_tasks(args) > 0 ? num_threads * static_cast<int64_t>(sizeof(Scratch)) : 0;
}

void gdn_prefill(Workers& workers, const bmk_gdn_prefill_args& args) {
  Scratch* scratch = static_cast<Scratch*>(args.workspace);
  parallel_for(workers, num_tasks(args), [&](int64_t task, int64_t worker) {
    run_head(args, task / args.value_heads, task % args.value_heads, scratch[worker]);
  });
}

}  // namespace branchmark::cpu::BRANCHMARK_ISA
