#include "branchmark/model/layers.hpp"

#include <algorithm>
#include <cstring>

namespace branchmark {
namespace {

bmk_gdn_prefill_args gdn_prefill_args(const ModelConfig& config, bmk_numerics numerics,
                                      const bmk_sequences& sequences, const ScratchViews& views) {
  bmk_gdn_prefill_args args{};
  args.struct_size = sizeof args;
  args.numerics = numerics;
  args.key_heads = config.key_heads;
  args.value_heads = config.value_heads;
  args.sequences = sequences;
  args.qkv = views.conv;
  args.g = views.gates;
  args.beta = views.beta;
  args.out = views.gdn_out;
  return args;
}

bmk_gated_attention_args attention_args(const ModelConfig& config, bmk_numerics numerics,
                                        const bmk_sequences& sequences, const ScratchViews& views) {
  bmk_gated_attention_args args{};
  args.struct_size = sizeof args;
  args.numerics = numerics;
  args.query_heads = config.query_heads;
  args.kv_heads = config.kv_heads;
  args.sequences = sequences;
  args.query = views.query;
  args.gate_head_stride = 2 * BMK_ATTENTION_HEAD_DIM;
  args.gate = columns_of(views.attention_input, BMK_ATTENTION_HEAD_DIM,
                         args.gate_head_stride * (config.query_heads - 1) + BMK_ATTENTION_HEAD_DIM);
  args.out = views.attention_out;
  return args;
}

// One pass being queued: the views of its rows, and short names for the ops.
class PassQueue {
 public:
  PassQueue(const LayerStack& stack, Gemm& gemm, const PassInputs& inputs, PassObserver* observer)
      : stack_(stack),
        context_(stack.context),
        ops_(*stack.context.table().ops),
        config_(stack.config),
        numerics_(stack.profile.numerics()),
        gemm_(gemm),
        inputs_(inputs),
        observer_(observer),
        views_(stack.scratch.views(inputs.num_rows())) {}

  void run() {
    embed();
    norm(views_.residual, stack_.weights.layers.front().input_norm, views_.normed);
    std::int64_t gdn_index = 0;
    std::int64_t attention_index = 0;
    for (std::int64_t layer = 0; layer < config_.num_layers(); ++layer) {
      const auto& weights = stack_.weights.layers[static_cast<std::size_t>(layer)];
      layer_ = layer;
      seen("layer_input", views_.residual);
      if (config_.layers[static_cast<std::size_t>(layer)] == LayerKind::gdn)
        gdn_block(weights, gdn_index++);
      else
        attention_block(weights, attention_index++);
      seen("mixer_output", views_.delta);
      add_norm(weights.post_norm);
      seen("post_norm", views_.normed);
      ffn_block(weights);
      const bool last = layer + 1 == config_.num_layers();
      add_norm(last ? stack_.weights.final_norm
                    : stack_.weights.layers[static_cast<std::size_t>(layer) + 1].input_norm);
      for (const auto& input : inputs_.inputs())
        if (input.capture != nullptr) input.capture->mark_layer(layer);
    }
    layer_ = config_.num_layers();
    seen("final_norm", views_.normed);
    gather_results();
  }

 private:
  void seen(std::string_view op, const bmk_matrix& out) {
    if (observer_ != nullptr && observer_->wants(layer_, op)) observer_->observe(context_, layer_, op, out);
  }

  void embed() {
    const bmk_embed_args args{.struct_size = sizeof args,
                              .ids = inputs_.ids(),
                              .table = stack_.weights.embedding,
                              .out = views_.residual};
    context_.op("embed", ops_.embed, args);
    seen("embed", views_.residual);
  }

  void norm(const bmk_matrix& x, const bmk_matrix& weight, const bmk_matrix& out) {
    const bmk_rms_norm_args args{.struct_size = sizeof args,
                                 .numerics = numerics_,
                                 .eps = config_.rms_eps,
                                 .x = x,
                                 .weight = weight,
                                 .out = out};
    context_.op("rms_norm", ops_.rms_norm, args);
  }

  // residual += delta, then the next norm of it.
  void add_norm(const bmk_matrix& weight) {
    const bmk_add_rms_norm_args args{.struct_size = sizeof args,
                                     .numerics = numerics_,
                                     .eps = config_.rms_eps,
                                     .residual = views_.residual,
                                     .delta = views_.delta,
                                     .weight = weight,
                                     .out = views_.normed};
    context_.op("add_rms_norm", ops_.add_rms_norm, args);
  }

  void project(const bmk_matrix& x, const bmk_matrix& weight, const bmk_matrix& out,
               std::initializer_list<Projection> parts) {
    gemm_.run(x, weight, out);
    if (stack_.adapter == nullptr) return;
    for (const auto& delta : stack_.adapter->layers[static_cast<std::size_t>(layer_)]) {
      if (std::find(parts.begin(), parts.end(), delta.projection) == parts.end()) continue;
      const auto place = place_of(config_, delta.projection);
      const bmk_lora_delta_args args{.struct_size = sizeof args,
                                     .numerics = numerics_,
                                     .scale = delta.scale,
                                     .x = x,
                                     .a = delta.a,
                                     .b = delta.b,
                                     .y = columns_of(out, place.first_column, place.outputs),
                                     .workspace = stack_.scratch.workspace(),
                                     .workspace_bytes = stack_.scratch.workspace_bytes()};
      context_.op("lora_delta", ops_.lora_delta, args);
    }
  }

  void gdn_block(const LayerWeights& weights, std::int64_t index) {
    const auto& in = views_.gdn_input;
    project(views_.normed, weights.mixer_input, in,
            {Projection::in_proj_qkv, Projection::in_proj_z, Projection::in_proj_b, Projection::in_proj_a});
    seen("mixer_input", in);
    const auto& pointers = inputs_.gdn_layer(index);

    bmk_conv_args conv{};
    conv.struct_size = sizeof conv;
    conv.numerics = numerics_;
    conv.sequences = inputs_.sequences();
    conv.x = columns_of(in, 0, config_.conv_channels());
    conv.weight = weights.conv;
    conv.out = views_.conv;
    conv.history_in = pointers.history_in;
    conv.history_out = pointers.history_out;
    conv.history_at = inputs_.capture_rows();
    context_.op("conv", ops_.conv, conv);
    seen("conv", views_.conv);

    const bmk_gdn_gates_args gates{.struct_size = sizeof gates,
                                   .numerics = numerics_,
                                   .reserved = 0,
                                   .a = columns_of(in, config_.gdn_a_column(), config_.value_heads),
                                   .b = columns_of(in, config_.gdn_b_column(), config_.value_heads),
                                   .a_log = weights.a_log,
                                   .dt_bias = weights.dt_bias,
                                   .g = views_.gates,
                                   .beta = views_.beta};
    context_.op("gdn_gates", ops_.gdn_gates, gates);
    seen("gdn_gates", views_.gates);

    auto prefill = gdn_prefill_args(config_, numerics_, inputs_.sequences(), views_);
    prefill.state_in = pointers.state_in;
    prefill.state_out = pointers.state_out;
    prefill.state_at = inputs_.capture_rows();
    prefill.workspace = stack_.scratch.workspace();
    prefill.workspace_bytes = stack_.scratch.workspace_bytes();
    context_.op("gdn_prefill", ops_.gdn_prefill, prefill);
    seen("gdn_prefill", views_.gdn_out);

    const bmk_gated_rms_norm_args gated{.struct_size = sizeof gated,
                                        .numerics = numerics_,
                                        .eps = config_.rms_eps,
                                        .value_heads = config_.value_heads,
                                        .o = views_.gdn_out,
                                        .z = columns_of(in, config_.gdn_z_column(), config_.value_width()),
                                        .weight = weights.gdn_norm,
                                        .out = views_.gated};
    context_.op("gated_rms_norm", ops_.gated_rms_norm, gated);
    seen("gated_rms_norm", views_.gated);
    project(views_.gated, weights.mixer_output, views_.delta, {Projection::out_proj});
  }

  void attention_block(const LayerWeights& weights, std::int64_t index) {
    const auto& in = views_.attention_input;
    project(views_.normed, weights.mixer_input, in,
            {Projection::q_proj, Projection::k_proj, Projection::v_proj});
    seen("mixer_input", in);
    const auto& pointers = inputs_.attention_layer(index);

    bmk_attention_prepare_args prepare{};
    prepare.struct_size = sizeof prepare;
    prepare.numerics = numerics_;
    prepare.eps = config_.rms_eps;
    prepare.query_heads = config_.query_heads;
    prepare.kv_heads = config_.kv_heads;
    prepare.sequences = inputs_.sequences();
    prepare.projection = in;
    prepare.query_norm = weights.query_norm;
    prepare.key_norm = weights.key_norm;
    prepare.cosines = stack_.rotary.cosines();
    prepare.sines = stack_.rotary.sines();
    prepare.positions = inputs_.positions();
    prepare.section_height = config_.mrope_section[1];
    prepare.section_width = config_.mrope_section[2];
    prepare.query = views_.query;
    prepare.key_out = pointers.key_out;
    prepare.value_out = pointers.value_out;
    context_.op("attention_prepare", ops_.attention_prepare, prepare);
    seen("attention_prepare", views_.query);

    auto attention = attention_args(config_, numerics_, inputs_.sequences(), views_);
    attention.num_segments = inputs_.num_segments();
    attention.max_positions = inputs_.max_positions();
    attention.segment_offsets = inputs_.segment_offsets();
    attention.segment_keys = pointers.segment_keys;
    attention.segment_values = pointers.segment_values;
    attention.segment_first_position = inputs_.segment_first_position();
    attention.segment_length = inputs_.segment_length();
    attention.workspace = stack_.scratch.workspace();
    attention.workspace_bytes = stack_.scratch.workspace_bytes();
    context_.op("gated_attention", ops_.gated_attention, attention);
    seen("gated_attention", views_.attention_out);
    project(views_.attention_out, weights.mixer_output, views_.delta, {Projection::o_proj});
  }

  void ffn_block(const LayerWeights& weights) {
    project(views_.normed, weights.gate_up, views_.gate_up, {Projection::gate_proj, Projection::up_proj});
    seen("gate_up", views_.gate_up);
    const bmk_silu_mul_args silu{.struct_size = sizeof silu,
                                 .numerics = numerics_,
                                 .reserved = 0,
                                 .gate = columns_of(views_.gate_up, 0, config_.ffn),
                                 .up = columns_of(views_.gate_up, config_.ffn_up_column(), config_.ffn),
                                 .out = views_.activated};
    context_.op("silu_mul", ops_.silu_mul, silu);
    seen("silu_mul", views_.activated);
    project(views_.activated, weights.down, views_.delta, {Projection::down_proj});
    seen("down", views_.delta);
  }

  void gather_results() {
    const bmk_index_rows_args args{.struct_size = sizeof args,
                                   .indices = inputs_.result_indices(),
                                   .in = views_.normed,
                                   .out = stack_.scratch.views(inputs_.num_results()).results};
    context_.op("gather_rows", ops_.gather_rows, args);
  }

  const LayerStack& stack_;
  Context& context_;
  const bmk_ops_api& ops_;
  const ModelConfig& config_;
  bmk_numerics numerics_;
  Gemm& gemm_;
  const PassInputs& inputs_;
  PassObserver* observer_;
  ScratchViews views_;
  std::int64_t layer_ = -1;
};

}  // namespace

DeviceAdapter upload(std::shared_ptr<Context> context, const Adapter& adapter, const ModelConfig& config) {
  DeviceAdapter on_device;
  on_device.layers.resize(static_cast<std::size_t>(config.num_layers()));
  const auto put = [&](const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
    auto& buffer = on_device.buffers.emplace_back(context, matrix_bytes(rows, columns, BMK_F32));
    const auto out = matrix(buffer.data(), rows, columns, BMK_F32);
    std::vector<float> padded(static_cast<std::size_t>(rows * out.row_stride), 0.0f);
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(values.begin() + row * columns, columns, padded.begin() + row * out.row_stride);
    context->copy_to_device(buffer.data(), padded.data(), buffer.bytes());
    context->synchronize();
    return out;
  };
  for (const auto& delta : adapter.deltas) {
    const auto place = place_of(config, delta.projection);
    on_device.layers[static_cast<std::size_t>(delta.layer)].push_back(
        {delta.projection, delta.scale, put(delta.a, delta.rank, place.inputs),
         put(delta.b, place.outputs, delta.rank)});
  }
  return on_device;
}

std::int64_t workspace_bytes(Context& context, const ModelConfig& config, const Profile& profile,
                             const DeviceAdapter* adapter, const PassInputs& inputs) {
  const auto& ops = *context.table().ops;
  const auto rows = inputs.num_rows();
  ScratchViews views{};
  views.conv = matrix(nullptr, rows, config.conv_channels(), profile.activation());
  views.gates = views.beta = matrix(nullptr, rows, config.value_heads, BMK_F32);
  views.gdn_out = matrix(nullptr, rows, config.value_width(), profile.activation());
  views.query = views.attention_out = matrix(nullptr, rows, config.query_width(), profile.activation());
  views.attention_input = matrix(nullptr, rows, config.attention_input_width(), profile.activation());

  std::int64_t largest = 0;
  std::int64_t bytes = 0;
  const auto prefill = gdn_prefill_args(config, profile.numerics(), inputs.sizes(), views);
  context.call("gdn_prefill_workspace", ops.gdn_prefill_workspace, context.device(), &prefill, &bytes);
  largest = std::max(largest, bytes);
  auto attention = attention_args(config, profile.numerics(), inputs.sizes(), views);
  attention.num_segments = inputs.num_segments();
  attention.max_positions = inputs.max_positions();
  context.call("gated_attention_workspace", ops.gated_attention_workspace, context.device(), &attention,
               &bytes);
  largest = std::max(largest, bytes);
  if (adapter == nullptr) return largest;
  for (const auto& layer : adapter->layers)
    for (const auto& delta : layer) {
      const bmk_lora_delta_args args{.struct_size = sizeof args,
                                     .numerics = profile.numerics(),
                                     .scale = delta.scale,
                                     .x = matrix(nullptr, rows, delta.a.columns, profile.activation()),
                                     .a = delta.a,
                                     .b = delta.b,
                                     .y = matrix(nullptr, rows, delta.b.rows, profile.activation()),
                                     .workspace = nullptr,
                                     .workspace_bytes = 0};
      context.call("lora_delta_workspace", ops.lora_delta_workspace, context.device(), &args, &bytes);
      largest = std::max(largest, bytes);
    }
  return largest;
}

void queue_pass(const LayerStack& stack, Gemm& gemm, const PassInputs& inputs, PassObserver* observer) {
  if (observer != nullptr) observer->begin_pass(inputs.run_rows());
  PassQueue(stack, gemm, inputs, observer).run();
}

}  // namespace branchmark
