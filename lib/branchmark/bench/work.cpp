// The formulas. A product of [m, k] with [k, n] is 2 · m · n · k operations. Elementwise work (norms, SiLU,
// rotary, gates, softmax) is left out of the operations, being below a hundredth of them, and is in the
// bytes, which are what it costs.
#include "branchmark/bench/work.hpp"

#include <algorithm>

namespace branchmark {
namespace {

constexpr std::int64_t kWeightBytes = 2;  // bf16
constexpr std::int64_t kFloatBytes = 4;

bool is_gdn(LayerKind kind) {
  return kind == LayerKind::gdn;
}

// Elements of a layer's four projection matrices: mixer input [inputs, hidden], mixer output [hidden,
// outputs], gate and up [2 · ffn, hidden], down [hidden, ffn].
double projection_elements(const ModelConfig& c, LayerKind kind) {
  const auto inputs = is_gdn(kind) ? c.gdn_input_width() : c.attention_input_width();
  const auto outputs = is_gdn(kind) ? c.value_width() : c.query_width();
  return real(c.hidden) * real(inputs + outputs + c.gate_up_width() + c.ffn);
}

// Elements that one row of a layer moves: every op reads its inputs and writes its outputs once.
//   both kinds  two of residual + norm (2 in, 2 out: 4 · hidden each); gate|up (hidden in, 2 · ffn out);
//   SiLU·up
//               (2 · ffn in, ffn out); down (ffn in, hidden out)
//   GDN         mixer input (hidden in, width out); convolution (channels in and out); prefill (channels in,
//               values out); gated norm (2 values in, 1 out); mixer output (values in, hidden out)
//   attention   mixer input (hidden in, width out); prepare (query, key and value in and out); attention
//   (query
//               and gate in, result out); mixer output (query width in, hidden out)
double moved_elements(const ModelConfig& c, LayerKind kind) {
  const double ffn = 2 * real(c.hidden) + 2 * real(c.gate_up_width()) + 2 * real(c.ffn);
  const double norms = 8 * real(c.hidden);
  if (is_gdn(kind))
    return norms + ffn + 2 * real(c.hidden) + real(c.gdn_input_width()) + 3 * real(c.conv_channels()) +
           5 * real(c.value_width());
  const double prepared = real(c.query_width() + 2 * c.kv_width());
  return norms + ffn + 2 * real(c.hidden) + real(c.attention_input_width()) + 2 * prepared +
         4 * real(c.query_width());
}

// Float32 values of a row's gates: decay and beta, written by the gates and read by the prefill.
double gate_bytes(const ModelConfig& c) {
  return real(4 * c.value_heads * kFloatBytes);
}

// A GDN layer's state: [value heads, 128, 128] float32 and the convolution's last three input rows.
double state_bytes(const ModelConfig& c, std::int64_t activation_bytes) {
  return real(c.value_heads * BMK_GDN_HEAD_DIM * BMK_GDN_HEAD_DIM * kFloatBytes) +
         real(BMK_CONV_HISTORY * c.conv_channels() * activation_bytes);
}

// Chunks of 64 tokens counted from the prompt's start; a run begins on that grid.
double gdn_sequence_flop(const SequenceShape& sequence) {
  const auto whole = sequence.rows / BMK_CHUNK_TOKENS;
  return real(whole) * gdn_chunk_flop(BMK_CHUNK_TOKENS) + gdn_chunk_flop(sequence.rows % BMK_CHUNK_TOKENS);
}

void add_pass(Work& work, const ModelConfig& c, const PassShape& pass, std::int64_t activation_bytes) {
  const double rows = real(pass.num_rows());
  const double element = real(activation_bytes);
  // The embedding's rows, written as the residual; the first norm reads that and writes its own.
  work.bytes += rows * real(c.hidden) * (real(kWeightBytes) + 3 * element);
  for (const auto kind : c.layers) {
    const double weights = projection_elements(c, kind);
    work.gemm_flop += 2 * rows * weights;
    // Weights once a pass, whatever its rows: what packing saves.
    work.bytes += weights * real(kWeightBytes) + rows * moved_elements(c, kind) * element;
    for (const auto& sequence : pass.sequences) {
      const bool resumes = sequence.first > 0;
      if (is_gdn(kind)) {
        work.gdn_flop += real(c.value_heads) * gdn_sequence_flop(sequence);
        work.bytes += real(sequence.rows) * gate_bytes(c);
        work.bytes += ((resumes ? 1 : 0) + (sequence.captures ? 1 : 0)) * state_bytes(c, activation_bytes);
      } else {
        work.attention_flop += real(c.query_heads) * attention_flop(sequence.first, sequence.rows);
        // Keys and values of every position that the sequence sees, its ancestors' included, read once.
        work.bytes += real(2 * c.kv_width() * (sequence.first + sequence.rows)) * element;
      }
    }
  }
  ++work.num_passes;
  work.run_tokens += pass.num_rows();
}

}  // namespace

std::int64_t PassShape::num_rows() const {
  std::int64_t rows = 0;
  for (const auto& sequence : sequences) rows += sequence.rows;
  return rows;
}

std::vector<PassShape> one_pass(std::int64_t tokens) {
  return {{{{.first = 0, .rows = tokens, .captures = false}}}};
}

std::vector<PassShape> passes_of(const ExecutionPlan& plan) {
  std::vector<PassShape> passes;
  for (const auto& pass : plan.passes) {
    auto& shape = passes.emplace_back();
    for (const auto index : pass.runs) {
      const auto& run = plan.runs[static_cast<std::size_t>(index)];
      shape.sequences.push_back({run.first, run.rows(), run.captures});
    }
  }
  return passes;
}

// The chunked delta rule (arXiv 2412.06464), r rows, key and value dims 128:
//   K·Kᵀ and Q·Kᵀ        2 · r² · 128 each
//   (I + A)⁻¹             r³ / 3, by substitution
//   T·K, T·V, P·U        2 · r² · 128 each
//   W·S, Q·S, Kᵀ·U       2 · r · 128² each
double gdn_chunk_flop(std::int64_t rows) {
  const double r = real(rows);
  const double d = BMK_GDN_HEAD_DIM;
  return 5 * 2 * r * r * d + r * r * r / 3 + 3 * 2 * r * d * d;
}

// Σ over rows p of 2 · 2 · 256 · (p + 1): scores and their product with the values.
double attention_flop(std::int64_t first, std::int64_t rows) {
  const double seen = real(rows) * real(first) + real(rows) * real(rows + 1) / 2;
  return 4.0 * BMK_ATTENTION_HEAD_DIM * seen;
}

Work work_of(const ModelConfig& config, const std::vector<PassShape>& passes, std::int64_t activation_bytes) {
  Work work;
  for (const auto& pass : passes) add_pass(work, config, pass, activation_bytes);
  return work;
}

}  // namespace branchmark
