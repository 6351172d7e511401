#include "branchmark/model/tensor_list.hpp"

#include <fmt/format.h>

namespace branchmark {
namespace {

using Extents = std::vector<std::int64_t>;

// Collects the stacks of one layer.
class LayerList {
 public:
  LayerList(std::vector<TensorStack>& stacks, std::int64_t layer)
      : stacks_(stacks), layer_(layer), prefix_(fmt::format("layers.{}.", layer)) {}

  void vector(bmk_matrix LayerWeights::*member, const char* name, TensorRole role, std::int64_t length) {
    stack(member, 1, length, {part(name, role, 0, 1, {length})});
  }

  // The ABI asks for taps without padding.
  void taps(const char* name, std::int64_t channels) {
    stack(&LayerWeights::conv, channels, BMK_CONV_TAPS,
          {part(name, TensorRole::conv, 0, channels, {channels, 1, BMK_CONV_TAPS})});
    stacks_.back().row_stride = BMK_CONV_TAPS;
  }

  void stack(bmk_matrix LayerWeights::*member, std::int64_t rows, std::int64_t columns,
             std::vector<TensorPart> parts) {
    stacks_.push_back({.in_model = nullptr,
                       .in_layer = member,
                       .layer = layer_,
                       .rows = rows,
                       .columns = columns,
                       .row_stride = padded_columns(columns),
                       .parts = std::move(parts)});
  }

  TensorPart part(const char* name, TensorRole role, std::int64_t first_row, std::int64_t rows,
                  Extents shape) const {
    return {prefix_ + name, std::move(shape), role, first_row, rows};
  }

  // A projection [outputs, inputs] whose first output is row `first_row` of its stack.
  TensorPart projection(const char* name, TensorRole role, std::int64_t first_row, std::int64_t outputs,
                        std::int64_t inputs) const {
    return part(name, role, first_row, outputs, {outputs, inputs});
  }

 private:
  std::vector<TensorStack>& stacks_;
  std::int64_t layer_;
  std::string prefix_;
};

void add_gdn(LayerList& list, const ModelConfig& config) {
  const auto hidden = config.hidden;
  const auto heads = config.value_heads;
  list.stack(&LayerWeights::mixer_input, config.gdn_input_width(), hidden,
             {list.projection("linear_attn.in_proj_qkv.weight", TensorRole::projection, 0,
                              config.conv_channels(), hidden),
              list.projection("linear_attn.in_proj_z.weight", TensorRole::projection, config.gdn_z_column(),
                              config.value_width(), hidden),
              list.projection("linear_attn.in_proj_b.weight", TensorRole::beta, config.gdn_b_column(), heads,
                              hidden),
              list.projection("linear_attn.in_proj_a.weight", TensorRole::projection, config.gdn_a_column(),
                              heads, hidden)});
  list.taps("linear_attn.conv1d.weight", config.conv_channels());
  list.vector(&LayerWeights::a_log, "linear_attn.A_log", TensorRole::a_log, heads);
  list.vector(&LayerWeights::dt_bias, "linear_attn.dt_bias", TensorRole::dt_bias, heads);
  list.vector(&LayerWeights::gdn_norm, "linear_attn.norm.weight", TensorRole::gdn_norm, BMK_GDN_HEAD_DIM);
  list.stack(&LayerWeights::mixer_output, hidden, config.value_width(),
             {list.projection("linear_attn.out_proj.weight", TensorRole::to_residual, 0, hidden,
                              config.value_width())});
}

void add_attention(LayerList& list, const ModelConfig& config) {
  const auto hidden = config.hidden;
  list.stack(&LayerWeights::mixer_input, config.attention_input_width(), hidden,
             {list.projection("self_attn.q_proj.weight", TensorRole::projection, 0, 2 * config.query_width(),
                              hidden),
              list.projection("self_attn.k_proj.weight", TensorRole::projection,
                              config.attention_key_column(), config.kv_width(), hidden),
              list.projection("self_attn.v_proj.weight", TensorRole::projection,
                              config.attention_value_column(), config.kv_width(), hidden)});
  list.vector(&LayerWeights::query_norm, "self_attn.q_norm.weight", TensorRole::head_norm,
              BMK_ATTENTION_HEAD_DIM);
  list.vector(&LayerWeights::key_norm, "self_attn.k_norm.weight", TensorRole::head_norm,
              BMK_ATTENTION_HEAD_DIM);
  list.stack(
      &LayerWeights::mixer_output, hidden, config.query_width(),
      {list.projection("self_attn.o_proj.weight", TensorRole::to_residual, 0, hidden, config.query_width())});
}

}  // namespace

bool TensorStack::has_padding() const {
  std::int64_t covered = 0;
  for (const auto& part : parts) covered += part.rows;
  return covered != rows || row_stride != columns;
}

std::vector<TensorStack> tensor_stacks(const ModelConfig& config) {
  const auto hidden = config.hidden;
  const auto whole = [](bmk_matrix Weights::*member, const char* name, TensorRole role, std::int64_t rows,
                        std::int64_t columns, Extents shape) {
    return TensorStack{.in_model = member,
                       .in_layer = nullptr,
                       .layer = 0,
                       .rows = rows,
                       .columns = columns,
                       .row_stride = padded_columns(columns),
                       .parts = {{name, std::move(shape), role, 0, rows}}};
  };
  std::vector<TensorStack> stacks;
  stacks.push_back(whole(&Weights::embedding, "embed_tokens.weight", TensorRole::embedding, config.vocabulary,
                         hidden, {config.vocabulary, hidden}));
  stacks.push_back(whole(&Weights::final_norm, "norm.weight", TensorRole::norm, 1, hidden, {hidden}));
  for (std::int64_t i = 0; i < config.num_layers(); ++i) {
    LayerList list(stacks, i);
    list.vector(&LayerWeights::input_norm, "input_layernorm.weight", TensorRole::norm, hidden);
    if (config.layers[static_cast<std::size_t>(i)] == LayerKind::gdn)
      add_gdn(list, config);
    else
      add_attention(list, config);
    list.vector(&LayerWeights::post_norm, "post_attention_layernorm.weight", TensorRole::norm, hidden);
    list.stack(&LayerWeights::gate_up, config.gate_up_width(), hidden,
               {list.projection("mlp.gate_proj.weight", TensorRole::projection, 0, config.ffn, hidden),
                list.projection("mlp.up_proj.weight", TensorRole::projection, config.ffn_up_column(),
                                config.ffn, hidden)});
    list.stack(&LayerWeights::down, hidden, config.ffn,
               {list.projection("mlp.down_proj.weight", TensorRole::to_residual, 0, hidden, config.ffn)});
  }
  return stacks;
}

bmk_dtype synthetic_dtype(const TensorStack& stack) {
  switch (stack.parts.front().role) {
    case TensorRole::a_log:
    case TensorRole::dt_bias:
    case TensorRole::gdn_norm:
      return BMK_F32;
    default:
      return BMK_BF16;
  }
}

}  // namespace branchmark
