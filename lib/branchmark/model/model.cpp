#include "branchmark/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/digest.hpp"
#include "branchmark/model/non_finite.hpp"

namespace branchmark {
namespace {

std::uint64_t next_model_id() {
  static std::atomic<std::uint64_t> next{1};
  return next++;
}

}  // namespace

std::vector<std::byte> HiddenRows::bytes() const {
  std::vector<std::byte> raw(values.size() * static_cast<std::size_t>(size_of(activation)));
  std::vector<std::uint16_t> rounded;
  const void* source = values.data();
  if (activation == BMK_BF16) {
    rounded.resize(values.size());
    std::transform(values.begin(), values.end(), rounded.begin(), float_to_bf16);
    source = rounded.data();
  }
  if (!raw.empty()) std::memcpy(raw.data(), source, raw.size());
  return raw;
}

std::string HiddenRows::digest() const {
  return sha256_hex(bytes());
}

Model::Model(std::shared_ptr<Context> context, ModelConfig config, std::shared_ptr<const Weights> weights,
             ModelOptions options)
    : context_(std::move(context)),
      config_(std::move(config)),
      profile_{options.adapter.has_value(), options.reference_numerics, options.gdn_fp32},
      weights_(std::move(weights)),
      graphs_enabled_(options.graphs && context_->info().supports_graphs != 0),
      id_(next_model_id()),
      gemms_(context_, gemm_shapes(config_, *weights_, profile_.activation()), std::move(options.gemm)),
      rotary_(context_, config_, profile_.activation()),
      scratch_(context_, config_, profile_.activation()),
      states_(std::make_shared<StatePool>(context_, config_, id_)),
      graph_cache_(context_) {
  if (options.adapter) adapter_ = upload(context_, *options.adapter, config_);
}

ModelStatistics Model::statistics() const {
  auto statistics = statistics_;
  statistics.scratch_growths = scratch_.num_growths();
  statistics.state_allocations = states_->statistics().allocations;
  statistics.graphs = graph_cache_.statistics();
  return statistics;
}

void Model::poison_scratch() {
  scratch_.poison(0xff);
  states_->poison_free(0xff);
}

void Model::release_memory() {
  graph_cache_.clear();
  scratch_.release();
  states_->release_free();
  input_block_.reset();
}

HiddenRows Model::forward(const Prompt& prompt, const CallOptions& options) {
  validate(prompt, limits(), "forward");
  return run_pass({{.tokens = &prompt, .wants_result = true}}, GemmKind::default_choice, options,
                  graphs_enabled_);
}

std::vector<HiddenRows> Model::forward_batch(std::span<const Prompt> prompts, GemmKind gemm,
                                             const CallOptions& options) {
  if (prompts.empty()) throw Error(ErrorCode::refused, "forward_batch: no prompts");
  std::vector<SequenceInput> sequences;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    validate(prompts[i], limits(), fmt::format("forward_batch/prompt {}", i));
    sequences.push_back({.run = static_cast<std::int64_t>(i), .tokens = &prompts[i], .wants_result = true});
  }
  const auto rows = run_pass(std::move(sequences), gemm, options, false);
  std::vector<HiddenRows> results;
  auto next = rows.values.begin();
  for (const auto& prompt : prompts) {
    const auto count =
        rows.columns * (options.all_rows ? static_cast<std::int64_t>(prompt.tokens.size()) : 1);
    results.push_back({rows.columns, rows.activation, {next, next + count}});
    next += count;
  }
  return results;
}

HiddenRows Model::forward_fixed(const Prompt& prompt, GemmKind gemm, const CallOptions& options) {
  require_shareable(profile_, "forward_fixed");
  if (gemm == GemmKind::default_choice)
    throw Error(ErrorCode::refused,
                "forward_fixed: the default GEMM choice is not row-independent; use fixed or class");
  validate(prompt, limits(), "forward_fixed");
  return run_pass({{.tokens = &prompt, .wants_result = true}}, gemm, options, false);
}

ExecutionPlan Model::plan(const PrefixTree& tree, const SharedOptions& options) const {
  validate(tree, limits());
  PlanOptions plan_options;
  plan_options.packing = options.packing;
  plan_options.max_state_bytes = options.max_state_bytes;
  plan_options.state_cost = state_cost();
  return plan_execution(tree, plan_options);
}

std::vector<HiddenRows> Model::forward_shared(const PrefixTree& tree, const SharedOptions& options) {
  require_shareable(profile_, "forward_shared");
  if (options.gemm == GemmKind::default_choice)
    throw Error(ErrorCode::refused,
                "forward_shared: the default GEMM choice is not row-independent; use fixed or class");
  return run_plan(plan(tree, options), options);
}

std::vector<HiddenRows> Model::run_plan(const ExecutionPlan& plan, const SharedOptions& options) {
  std::vector<std::int64_t> state_rows;
  for (const auto& run : plan.runs)
    if (run.captures) state_rows.push_back(run.rows());
  const bool budgeted = options.max_state_bytes > 0;
  require_memory(scratch_.missing_bytes(plan.max_rows) +
                     (budgeted ? std::max<std::int64_t>(0, plan.peak_state_bytes - states_->free_bytes())
                               : states_->missing_bytes(state_rows)),
                 "forward_shared");
  static_cast<void>(gemms_.ready(options.gemm, plan.row_counts()));

  std::vector<std::shared_ptr<PrefixState>> states(plan.runs.size());
  std::vector<HiddenRows> results(static_cast<std::size_t>(plan.num_prompts));
  for (const auto& pass : plan.passes) {
    std::vector<SequenceInput> sequences;
    std::vector<std::int64_t> prompts;
    for (const auto index : pass.runs) {
      const auto& run = plan.runs[static_cast<std::size_t>(index)];
      SequenceInput input{
          .run = index, .tokens = &run.tokens, .first = run.first, .wants_result = run.prompt >= 0};
      if (run.parent_run >= 0) {
        input.parent = states[static_cast<std::size_t>(run.parent_run)];
        require_resumable(*input.parent, id_, run.first, run.path);
      }
      if (run.captures)
        input.capture = states[static_cast<std::size_t>(index)] =
            states_->acquire(input.parent, run.last, run.rows(), options.max_state_bytes);
      if (run.prompt >= 0) prompts.push_back(run.prompt);
      sequences.push_back(std::move(input));
    }
    const auto rows = run_pass(std::move(sequences), options.gemm,
                               {.observer = options.observer, .hook = options.hook}, false);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const auto begin = rows.values.begin() + static_cast<std::int64_t>(i) * rows.columns;
      results[static_cast<std::size_t>(prompts[i])] = {
          rows.columns, rows.activation, {begin, begin + rows.columns}};
    }
    for (const auto index : pass.released) states[static_cast<std::size_t>(index)].reset();
  }
  return results;
}

WindowResult Model::forward_window(const WindowRequest& request, const CallOptions& options) {
  require_shareable(profile_, "forward_window");
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::refused, "forward_window: " + why);
  };
  if (request.gemm == GemmKind::default_choice)
    refuse("the default GEMM choice is not row-independent; use fixed or class");
  validate(*request.prompt, limits(), "forward_window");
  const auto length = static_cast<std::int64_t>(request.prompt->tokens.size());
  if (request.from < 0 || request.from >= request.to)
    refuse(fmt::format("from {} must be at least 0 and below to {}", request.from, request.to));
  if (request.to > length) refuse(fmt::format("to {} is past the prompt's {} tokens", request.to, length));
  if (request.from > 0 && request.prefix == nullptr)
    refuse(fmt::format("from is {} and no prefix state was given", request.from));
  if (request.prefix != nullptr) require_resumable(*request.prefix, id_, request.from, "forward_window");
  if (request.capture_at % BMK_CHUNK_TOKENS != 0)
    refuse(fmt::format("capture at {} is off the grid of {} tokens", request.capture_at, BMK_CHUNK_TOKENS));
  if (request.capture_at > request.to)
    refuse(fmt::format("capture at {} is past the window's end {}", request.capture_at, request.to));
  if (request.capture_at != 0 && request.capture_at <= request.from)
    refuse(fmt::format("capture at {} is not past the window's start {}", request.capture_at, request.from));

  const Prompt tokens = slice(*request.prompt, request.from, request.to);
  const auto rows = request.to - request.from;
  SequenceInput input{
      .tokens = &tokens, .first = request.from, .parent = request.prefix, .wants_result = true};
  WindowResult result;
  std::shared_ptr<PrefixState> capture;
  if (request.capture_at > 0) {
    require_memory(scratch_.missing_bytes(rows) + states_->missing_bytes({rows}), "forward_window");
    static_cast<void>(gemms_.ready(request.gemm, std::array{rows}));
    capture = states_->acquire(request.prefix, request.capture_at, rows);
    input.capture = capture;
  }
  result.rows = run_pass({std::move(input)}, request.gemm, options, false);
  result.captured = std::move(capture);
  return result;
}

void Model::require_memory(std::int64_t bytes, const std::string& what) {
  if (bytes <= 0) return;
  const auto free = context_->free_bytes();
  if (bytes > free)
    throw Error(ErrorCode::not_eligible,
                fmt::format("{}: needs {} bytes of device memory beyond what the model holds; {} are free",
                            what, bytes, free));
}

void Model::reserve(const PassInputs& inputs) {
  const auto workspace =
      workspace_bytes(*context_, config_, profile_, adapter_ ? &*adapter_ : nullptr, inputs);
  require_memory(scratch_.missing_bytes(inputs.num_rows()) +
                     std::max<std::int64_t>(0, workspace - scratch_.workspace_bytes()),
                 fmt::format("a pass of {} rows", inputs.num_rows()));
  bool moved = scratch_.reserve(inputs.num_rows(), workspace);
  moved |= rotary_.reserve(inputs.rotary_positions());
  if (moved) graph_cache_.clear();
}

HiddenRows Model::run_pass(std::vector<SequenceInput> sequences, GemmKind kind, const CallOptions& options,
                           bool graphs) {
  PassInputs inputs(config_, std::move(sequences), options.all_rows);
  const LayerStack stack{*context_, config_, profile_, *weights_, adapter_ ? &*adapter_ : nullptr,
                         rotary_,   scratch_};
  HiddenRows results;
  Gemm* gemm = nullptr;
  try {
    gemm = &gemms_.ready(kind, std::array{inputs.num_rows()});
    reserve(inputs);
    if (options.hook != nullptr) options.hook->before_pass(*context_);
    if (inputs.upload(context_, input_block_, scratch_.views(inputs.num_rows()))) graph_cache_.clear();
    const bool recorded = graphs && options.observer == nullptr && !options.all_rows;
    GraphCache::Key key;
    for (const auto& run : inputs.run_rows()) key.push_back(run.num_rows);
    const bool replayed = recorded && graph_cache_.replay(key);
    if (!replayed) queue_pass(stack, *gemm, inputs, options.observer);
    if (options.hook != nullptr) options.hook->after_pass(*context_);
    results = download_results(inputs);
    if (recorded && !replayed) graph_cache_.capture(key, [&] { queue_pass(stack, *gemm, inputs, nullptr); });
  } catch (...) {
    context_->synchronize_quietly();
    graph_cache_.clear();  // memory may have moved before the failure
    throw;
  }
  ++statistics_.passes;
  statistics_.tokens_run += inputs.num_rows();
  if (!std::all_of(results.values.begin(), results.values.end(),
                   [](float value) { return std::isfinite(value); }))
    report_non_finite(*gemm, inputs);
  for (const auto& input : inputs.inputs()) {
    if (input.parent != nullptr) ++statistics_.states_resumed;
    if (input.capture == nullptr) continue;
    input.capture->mark_ended();
    ++statistics_.states_captured;
  }
  return results;
}

HiddenRows Model::download_results(const PassInputs& inputs) {
  HiddenRows rows{config_.hidden, profile_.activation(), {}};
  if (inputs.num_results() == 0)
    context_->synchronize();
  else
    rows.values = download(*context_, scratch_.views(inputs.num_results()).results);
  return rows;
}

void Model::report_non_finite(Gemm& gemm, const PassInputs& inputs) {
  const LayerStack stack{*context_, config_, profile_, *weights_, adapter_ ? &*adapter_ : nullptr,
                         rotary_,   scratch_};
  NonFiniteSearch search(context_);
  queue_pass(stack, gemm, inputs, &search);
  context_->synchronize();
  throw Error(ErrorCode::non_finite, search.message());
}

}  // namespace branchmark
